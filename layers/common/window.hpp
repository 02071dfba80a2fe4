#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

using Extents3 = std::array<std::int64_t, 3>;

/// A window that slides over one to three spatial axes, as convolutions and pools have it. Always three axes:
/// what lies in front of the `rank` that exist has extent, kernel, stride and dilation 1 and no padding.
struct Window {
  int rank = 0;
  Extents3 in{1, 1, 1}, out{1, 1, 1};
  Extents3 kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Extents3 pad_begin{}, pad_end{};

  /// Extent that the dilated kernel covers on an axis.
  std::int64_t reach(int axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  std::int64_t in_points() const { return in[0] * in[1] * in[2]; }
  std::int64_t out_points() const { return out[0] * out[1] * out[2]; }
  std::int64_t kernel_points() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// The last `rank` of three extents.
  std::vector<std::int64_t> tail(const Extents3& e) const { return {e.end() - rank, e.end()}; }
};

/// Spatial extents of a channels-last shape [N, spatial..., C]. InputError unless there are one to three.
std::vector<std::int64_t> spatial_extents(const Shape& x);

/// The attribute `name` as one number for each of `rank` spatial axes, each in [lowest, 2^31). InputError
/// otherwise.
std::vector<std::int64_t> read_extents(const Attributes& a, const char* name, int rank, std::int64_t fallback,
                                       std::int64_t lowest);

/// Strides, dilations, pads, auto_pad and ceil_mode of ONNX, and the output extents
///   out = floor((in + pad_begin + pad_end - ((kernel - 1) dilation + 1)) / stride) + 1
/// (ceil with ceil_mode, without windows that would start behind the input). SAME_UPPER and SAME_LOWER:
///   out = ceil(in / stride), pad_begin + pad_end = max(0, (out - 1) stride + reach - in),
/// the odd one behind or in front. InputError when nothing fits.
Window read_window(const Attributes& a, const std::vector<std::int64_t>& kernel,
                   const std::vector<std::int64_t>& spatial);

/// [N, out..., channels]
Shape window_output(const Window& w, std::int64_t batch, std::int64_t channels);

}  // namespace espalier
