#pragma once

#include <optional>
#include <span>
#include <vector>

#include "layers/common/broadcast.hpp"

namespace espalier {

/// Which axes a Reduce* node sums over, from its constant input 1 (opset 18) or attribute `axes` (before).
/// None given: all axes, or none at all with noop_with_empty_axes. InputError for an axis out of range, given
/// twice, or known at run time only.
std::vector<bool> reduced_axes(const NodeView& view);

/// The input without its reduced axes, or with 1 in their place when keepdims is set (the default).
Shape reduced_shape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims);

/// How to walk a reduction: neighbouring axes of one kind are merged. `inner` elements lie together, either
/// all reduced into one result or each a result of its own; the plans walk the other axes, one element a row
/// (out_stride and strides[0]: of the output and of the input).
struct ReducePlan {
  BroadcastPlan kept;
  BroadcastPlan reduced;
  std::int64_t inner = 1;
  bool inner_reduced = false;
  std::int64_t count = 1;  ///< elements that go into one result
};
ReducePlan plan_reduction(const Shape& shape, const std::vector<bool>& reduced);

/// PermuteRule of Reduce*: the axes are renamed; without keepdims what is left is permuted.
std::optional<std::vector<int>> permute_reduce(Graph& graph, Node& node, std::span<const int> perm);

}  // namespace espalier
