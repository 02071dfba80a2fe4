#pragma once

#include "layers/common/window.hpp"

namespace espalier {

enum class PoolKind { max, average, lp };

/// x [N, spatial..., C] to y [N, out..., C]; a Global pool's window covers the whole input.
struct PoolShape {
  PoolKind kind = PoolKind::max;
  Window window;
  std::int64_t batch = 0, channels = 0;
  bool count_padding = false;  ///< AveragePool's count_include_pad
  bool column_major = false;   ///< MaxPool's storage_order
  std::int64_t p = 2;          ///< LpPool's norm

  /// Points of the window at output `o` that the average divides by: those in the input, or with
  /// count_padding those in the padded input (what ceil_mode adds behind it never counts).
  std::int64_t divisor(const Extents3& o) const;
  /// The last window reaches behind the padded input (ceil_mode).
  bool overhangs() const;
};

/// By the node's operator. InputError when the attributes do not fit the input.
PoolShape pool_shape(const NodeView& view);

}  // namespace espalier
