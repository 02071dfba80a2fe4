#include "layers/conv2d/conv_gemm.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "layers/conv2d/conv_packing.hpp"
#include "layers/conv2d/conv_shape.hpp"
#include "layers/simd/kernels.hpp"

namespace espalier {
namespace {

class GemmConv final : public Kernel {
 public:
  GemmConv(const NodeView& view, PrepareContext& context)
      : shape_(conv_shape(view)), pointwise_(pointwise_window(shape_.window)) {
    const int width = simd::kernels()->width;
    depth_ = shape_.window.kernel_points() * shape_.channels;
    weight_ = pointwise_weight(view, context.weights, shape_);
    bias_ = padded_bias(view, context.weights, shape_.filters, width);
    epilogue_ = epilogue_of(view, bias_);
    stride_ = depth_ % 256 == 0 ? depth_ + 16 : depth_;
    const bool resident = depth_ * shape_.filters <= simd::kResidentFloats;
    const std::int64_t rows =
        std::max<std::int64_t>((resident ? 30000 : simd::kBlockFloats) / depth_ / 14, 1) * 14;
    block_ = std::min(rows, shape_.batch * shape_.window.out_points());
  }

  std::size_t scratch_bytes() const override {
    return pointwise_ ? 0 : static_cast<std::size_t>(block_ * stride_) * sizeof(float);
  }

  void run(const KernelArguments& a) override {
    simd::GemmCall g;
    g.m = shape_.batch * shape_.window.out_points();
    g.n = g.ldc = shape_.filters;
    g.k = g.lda = depth_;
    g.a = static_cast<const float*>(a.inputs[0]);
    g.b = weight_.get();
    g.c = static_cast<float*>(a.outputs[0]);
    g.residual = residual_of(a, epilogue_);
    if (pointwise_) return simd::kernels()->gemm(g, epilogue_);
    const std::int64_t rows = g.m;
    float* gathered = static_cast<float*>(a.scratch);
    g.a = gathered;
    g.lda = stride_;
    for (std::int64_t row = 0; row < rows; row += block_) {
      g.m = std::min(block_, rows - row);
      gather(static_cast<const float*>(a.inputs[0]), row, g.m, gathered);
      simd::kernels()->gemm(g, epilogue_);
      g.c += g.m * g.ldc;
      if (g.residual != nullptr) g.residual += g.m * g.ldc;
    }
  }

 private:
  /// Rows [row, row + count) of the matrix [N out, kernel C].
  void gather(const float* x, std::int64_t row, std::int64_t count, float* out) const {
    const Window& w = shape_.window;
    for (std::int64_t r = row; r < row + count; ++r, out += stride_) {
      const std::int64_t n = r / w.out_points(), p = r % w.out_points();
      const std::int64_t od = p / (w.out[1] * w.out[2]), oh = p / w.out[2] % w.out[1], ow = p % w.out[2];
      float* to = out;
      for (std::int64_t kd = 0; kd < w.kernel[0]; ++kd)
        for (std::int64_t kh = 0; kh < w.kernel[1]; ++kh) {
          const std::int64_t d = od * w.stride[0] + kd * w.dilation[0] - w.pad_begin[0];
          const std::int64_t h = oh * w.stride[1] + kh * w.dilation[1] - w.pad_begin[1];
          const bool inside = d >= 0 && d < w.in[0] && h >= 0 && h < w.in[1];
          const float* from =
              inside ? x + ((n * w.in[0] + d) * w.in[1] + h) * w.in[2] * shape_.channels : nullptr;
          gather_taps(from, ow * w.stride[2] - w.pad_begin[2], to);
          to += w.kernel[2] * shape_.channels;
        }
    }
  }

  /// The kernel's taps of one input row from column `first` on; nullptr is a row of padding.
  void gather_taps(const float* from, std::int64_t first, float* to) const {
    const Window& w = shape_.window;
    const std::int64_t c = shape_.channels;
    if (from != nullptr && w.dilation[2] == 1 && first >= 0 && first + w.kernel[2] <= w.in[2]) {
      std::memcpy(to, from + first * c, static_cast<std::size_t>(w.kernel[2] * c) * sizeof(float));
      return;
    }
    for (std::int64_t k = 0; k < w.kernel[2]; ++k, to += c) {
      const std::int64_t at = first + k * w.dilation[2];
      if (from == nullptr || at < 0 || at >= w.in[2])
        std::fill_n(to, c, 0.0F);
      else
        std::copy_n(from + at * c, c, to);
    }
  }

  ConvShape shape_;
  bool pointwise_;
  std::int64_t depth_ = 0, stride_ = 0, block_ = 0;
  std::shared_ptr<const float> weight_, bias_;
  simd::Epilogue epilogue_;
};

class DepthwiseConv final : public Kernel {
 public:
  DepthwiseConv(const NodeView& view, PrepareContext& context) : shape_(conv_shape(view)) {
    const int width = simd::kernels()->width;
    step_ = (shape_.channels + width - 1) / width * width;
    weight_ = depthwise_weight(view, context.weights, shape_);
    bias_ = padded_bias(view, context.weights, shape_.filters, width);
    epilogue_ = epilogue_of(view, bias_);
    rows_.resize(static_cast<std::size_t>(shape_.window.kernel[1]));
  }

  void run(const KernelArguments& a) override {
    const Window& w = shape_.window;
    const std::int64_t c = shape_.channels;
    const float* residual = residual_of(a, epilogue_);
    simd::DepthwiseRow d = depthwise_row(w, c, weight_.get(), step_);
    d.rows = rows_.data();
    for (std::int64_t n = 0; n < shape_.batch; ++n) {
      const float* x = static_cast<const float*>(a.inputs[0]) + n * w.in_points() * c;
      for (std::int64_t o = 0; o < w.out[1]; ++o) {
        for (std::int64_t k = 0; k < w.kernel[1]; ++k) {
          const std::int64_t h = o * w.stride[1] + k * w.dilation[1] - w.pad_begin[1];
          rows_[k] = h >= 0 && h < w.in[1] ? x + h * w.in[2] * c : nullptr;
        }
        const std::int64_t at = (n * w.out[1] + o) * w.out[2] * c;
        d.y = static_cast<float*>(a.outputs[0]) + at;
        d.residual = residual == nullptr ? nullptr : residual + at;
        simd::kernels()->depthwise_row(d, epilogue_);
      }
    }
  }

 private:
  ConvShape shape_;
  std::int64_t step_ = 0;
  std::shared_ptr<const float> weight_, bias_;
  simd::Epilogue epilogue_;
  std::vector<const float*> rows_;
};

}  // namespace

std::string conv_gemm_refuses(const NodeView& view, const KernelOptions& options) {
  const ConvShape s = conv_shape(view);
  if (s.groups != 1) return "grouped";
  if (options.allow_bf16) return "bfloat16 is allowed, which oneDNN does faster";
  if (options.forced != "gemm") {
    if (s.window.kernel_points() != 1)
      return "more than one tap: gathering rows costs more than oneDNN's loops";
    if (!pointwise_window(s.window) && s.channels < 512)
      return "strided, with few channels: gathering rows costs more";
    const bool wide = s.channels * s.filters > simd::kResidentFloats && s.filters > s.channels;
    if (wide && s.window.out_points() >= 100)
      return "the weights leave the cache while a wide output is written";
  }
  return own_kernel_refusal(view, s);
}

std::unique_ptr<Kernel> prepare_conv_gemm(const NodeView& view, PrepareContext& context) {
  return std::make_unique<GemmConv>(view, context);
}

std::string conv_depthwise_refuses(const NodeView& view, const KernelOptions&) {
  const ConvShape s = conv_shape(view);
  if (!s.depthwise()) return "not depthwise with one filter a channel";
  if (s.window.in[0] != 1 || s.window.kernel[0] != 1) return "three spatial axes";
  return own_kernel_refusal(view, s);
}

std::unique_ptr<Kernel> prepare_conv_depthwise(const NodeView& view, PrepareContext& context) {
  return std::make_unique<DepthwiseConv>(view, context);
}

}  // namespace espalier
