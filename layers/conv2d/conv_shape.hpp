#pragma once

#include "layers/common/window.hpp"

namespace espalier {

/// The extents of a convolution: x [N, spatial..., C], weights [M, C/G, k...], y [N, out..., M].
struct ConvShape {
  Window window;
  std::int64_t batch = 0, channels = 0, filters = 0, groups = 1;
  std::int64_t channels_per_group() const { return channels / groups; }
  std::int64_t filters_per_group() const { return filters / groups; }
  bool empty() const {
    return batch == 0 || channels == 0 || filters == 0 || window.in_points() == 0 || window.out_points() == 0;
  }
  bool depthwise() const { return groups == channels && groups == filters && groups > 1; }
};

/// Of Conv. InputError when ranks, channels, groups, kernel_shape or the bias disagree.
ConvShape conv_shape(const NodeView& view);

/// Of ConvTranspose, whose weights are [C, M/G, k...]. The window is the one of the convolution that it
/// transposes, with `in` and `out` those of ConvTranspose:
///   out = stride (in - 1) + output_padding + ((kernel - 1) dilation + 1) - pad_begin - pad_end.
/// pad_end has output_padding subtracted and may be negative.
ConvShape conv_transpose_shape(const NodeView& view);

/// Flops of either: 2 per multiply-add, of which there are `points` * kernel points * channels per group *
/// ...
LayerCost conv_cost(const NodeView& view, const ConvShape& shape, std::int64_t points);

}  // namespace espalier
