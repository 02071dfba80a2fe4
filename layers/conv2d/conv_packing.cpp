#include "layers/conv2d/conv_packing.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "layers/common/aligned_memory.hpp"

namespace espalier {

std::shared_ptr<float> aligned_floats(std::int64_t count) {
  const auto memory =
      aligned_memory(static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(float));
  auto* p = static_cast<float*>(memory.get());
  std::fill_n(p, count, 0.0F);
  return {memory, p};
}

std::shared_ptr<const float> padded_bias(const NodeView& view, WeightCache& cache, std::int64_t filters,
                                         int width) {
  const std::int64_t count = (filters + width - 1) / width * width;
  if (!view.has_input(2)) return aligned_floats(count);
  return cached_floats(cache, *view.constants[2], fmt::format("bias{}", width), count, [&](float* out) {
    const auto values = view.constants[2]->as<float>();
    std::copy(values.begin(), values.end(), out);
  });
}

/// What all our own kernels need: float32, constant weights, an epilogue that they have.
std::string own_kernel_refusal(const NodeView& view, const ConvShape& s) {
  if (simd::kernels() == nullptr) return "the processor has neither AVX-512 nor AVX2 with FMA";
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  if (view.constants[1] == nullptr || (view.has_input(2) && view.constants[2] == nullptr))
    return "the weights are known at run time only";
  if (s.empty()) return "an extent is 0";
  simd::Epilogue e;
  return simd::read_epilogue(view, e);
}

simd::Epilogue epilogue_of(const NodeView& view, const std::shared_ptr<const float>& bias) {
  simd::Epilogue e;
  simd::read_epilogue(view, e);
  e.bias = bias.get();
  return e;
}

const float* residual_of(const KernelArguments& a, const simd::Epilogue& e) {
  return e.has_residual ? static_cast<const float*>(a.inputs[e.residual_input]) : nullptr;
}

bool pointwise_window(const Window& w) {
  return w.kernel_points() == 1 && w.stride == Extents3{1, 1, 1} && w.pad_begin == Extents3{} &&
         w.in == w.out;
}

std::shared_ptr<const float> pointwise_weight(const NodeView& view, WeightCache& cache, const ConvShape& s) {
  const int width = simd::kernels()->width;
  const std::int64_t taps = s.window.kernel_points(), channels = s.channels, depth = taps * channels;
  const auto kind = fmt::format("gemm{}", width);
  return cached_floats(cache, *view.constants[1], kind, simd::packed_b_floats(depth, s.filters, width),
                       [&](float* out) {
                         const float* w = view.constants[1]->as<float>().data();
                         simd::pack_b(depth, s.filters, width, out, [&](std::int64_t k, std::int64_t n) {
                           return w[(n * channels + k % channels) * taps + k / channels];
                         });
                       });
}

std::shared_ptr<const float> depthwise_weight(const NodeView& view, WeightCache& cache, const ConvShape& s) {
  const int width = simd::kernels()->width;
  const std::int64_t taps = s.window.kernel_points(), c = s.channels, step = (c + width - 1) / width * width;
  return cached_floats(cache, *view.constants[1], fmt::format("depthwise{}", width), taps * step,
                       [&](float* out) {
                         const float* w = view.constants[1]->as<float>().data();
                         for (std::int64_t k = 0; k < taps; ++k)
                           for (std::int64_t i = 0; i < c; ++i) out[k * step + i] = w[i * taps + k];
                       });
}

simd::DepthwiseRow depthwise_row(const Window& w, std::int64_t channels, const float* weight,
                                 std::int64_t step) {
  simd::DepthwiseRow d;
  d.kernel_h = static_cast<int>(w.kernel[1]);
  d.kernel_w = static_cast<int>(w.kernel[2]);
  d.stride = static_cast<int>(w.stride[2]);
  d.dilation = static_cast<int>(w.dilation[2]);
  d.in_w = w.in[2];
  d.out_w = w.out[2];
  d.pad = w.pad_begin[2];
  d.channels = channels;
  d.w = weight;
  d.w_step = step;
  return d;
}

}  // namespace espalier
