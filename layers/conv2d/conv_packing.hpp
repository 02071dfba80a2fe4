#pragma once

#include <memory>
#include <string_view>

#include "graphs/ir/layer.hpp"
#include "layers/conv2d/conv_shape.hpp"
#include "layers/simd/kernels.hpp"

namespace espalier {

/// Floats made once for a constant and kept in the cache under its address and `kind`; aligned to 64 bytes.
template <class Fill>
std::shared_ptr<const float> cached_floats(WeightCache& cache, const Tensor& constant, std::string_view kind,
                                           std::int64_t count, Fill&& fill);

/// The bias padded with zeros to whole vectors (zeros alone without a bias).
std::shared_ptr<const float> padded_bias(const NodeView& view, WeightCache& cache, std::int64_t filters,
                                         int width);

/// 64-byte aligned floats, zero-filled.
std::shared_ptr<float> aligned_floats(std::int64_t count);

/// Why our own kernels cannot: they need float32, constant weights, and an epilogue that they have.
std::string own_kernel_refusal(const NodeView& view, const ConvShape& s);

/// The node's fused operations with a padded bias, which must stay alive.
simd::Epilogue epilogue_of(const NodeView& view, const std::shared_ptr<const float>& bias);
/// Stride 1, one tap, no padding: rows of the input are rows of a matrix.
bool pointwise_window(const Window& w);
/// The weight as a packed B of depth kernel points x channels.
std::shared_ptr<const float> pointwise_weight(const NodeView& view, WeightCache& cache, const ConvShape& s);
/// The weight as [kernel points, channels padded to whole vectors].
std::shared_ptr<const float> depthwise_weight(const NodeView& view, WeightCache& cache, const ConvShape& s);
/// A row of a depthwise convolution but for its pointers to rows and result.
simd::DepthwiseRow depthwise_row(const Window& w, std::int64_t channels, const float* weight,
                                 std::int64_t step);

const float* residual_of(const KernelArguments& a, const simd::Epilogue& e);

struct PackedFloats {
  Tensor original;  ///< keeps the address in the key from being used again
  std::shared_ptr<float> data;
};

template <class Fill>
std::shared_ptr<const float> cached_floats(WeightCache& cache, const Tensor& constant, std::string_view kind,
                                           std::int64_t count, Fill&& fill) {
  const std::string key =
      std::to_string(reinterpret_cast<std::uintptr_t>(constant.data())) + "/" + std::string(kind);
  const auto packed = cache.get_or_make<PackedFloats>(key, [&]() -> std::shared_ptr<const void> {
    auto p = std::make_shared<PackedFloats>(PackedFloats{constant, aligned_floats(count)});
    fill(p->data.get());
    return p;
  });
  return {packed, packed->data.get()};
}

}  // namespace espalier
