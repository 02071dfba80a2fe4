#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

constexpr std::size_t kMaxBroadcastInputs = 3;

/// How to walk an output and up to three inputs that broadcast to it. Neighbouring axes that every input
/// treats alike are merged and extents of 1 dropped, so that the common cases (equal shapes, a scalar, one
/// value a channel) end as one or two axes. The last axis is the row: there an input's stride is 1, or 0
/// where it repeats.
struct BroadcastPlan {
  using Offsets = std::array<std::int64_t, kMaxBroadcastInputs>;
  struct Axis {
    std::int64_t extent = 1;
    std::int64_t out_stride = 1;
    Offsets strides{};  ///< by input, in elements
  };
  std::vector<Axis> axes;  ///< outermost first; at least one
  const Axis& row() const { return axes.back(); }
};

/// Precondition: at most kMaxBroadcastInputs inputs, each broadcastable to `out` (InternalError else).
BroadcastPlan plan_broadcast(const Shape& out, std::span<const Shape> inputs);

namespace broadcast_detail {
template <class Row>
void walk(const BroadcastPlan& plan, std::size_t axis, std::int64_t out, BroadcastPlan::Offsets in,
          Row& row) {
  if (axis + 1 == plan.axes.size()) {
    row(out, in);
    return;
  }
  const BroadcastPlan::Axis& a = plan.axes[axis];
  for (std::int64_t i = 0; i < a.extent; ++i) {
    walk(plan, axis + 1, out, in, row);
    out += a.out_stride;
    for (std::size_t k = 0; k < in.size(); ++k) in[k] += a.strides[k];
  }
}
}  // namespace broadcast_detail

/// Calls row(out_offset, in_offsets) for every row, in order; the row has plan.row().extent elements. Not
/// called when the output is empty.
template <class Row>
void for_each_row(const BroadcastPlan& plan, Row&& row) {
  for (const auto& axis : plan.axes)
    if (axis.extent == 0) return;
  broadcast_detail::walk(plan, 0, 0, {}, row);
}

/// Broadcast of all inputs [first, last) of a view. InputError names the shapes.
Shape broadcast_inputs(const NodeView& view, std::size_t first, std::size_t last);

/// Cost of reading every input once, writing every output once and computing `flops` for each element of
/// output 0.
LayerCost elementwise_cost(const NodeView& view, double flops_per_element);

}  // namespace espalier
