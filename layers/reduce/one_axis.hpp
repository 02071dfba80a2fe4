#pragma once

#include <optional>
#include <span>
#include <vector>

#include "layers/common/dtype_dispatch.hpp"
#include "layers/reduce/reduce_axes.hpp"

namespace espalier {

/// A tensor seen from one axis: outer x extent x inner.
struct OneAxis {
  int index = 0;
  std::int64_t outer = 1;
  std::int64_t extent = 1;
  std::int64_t inner = 1;
};

OneAxis one_axis(const Shape& shape, int index);

/// The axis of attribute `axis` (default `fallback`) of input 0. InputError when it is outside the rank, or
/// the dtype is not in the list.
OneAxis checked_axis(const NodeView& view, std::int64_t fallback, std::span<const DType> dtypes);
template <class List>
OneAxis axis_of(const NodeView& view, std::int64_t fallback, List list) {
  return checked_axis(view, fallback, dtypes_of(list));
}

/// Reads and writes everything once, one operation an element of input 0.
LayerCost axis_cost(const NodeView& view);

/// Renames attribute `axis` (default `fallback`) of a node whose input 0 is permuted; returns perm. nullopt
/// when input 0 has another rank.
std::optional<std::vector<int>> permute_axis(Graph& graph, Node& node, std::span<const int> perm,
                                             std::int64_t fallback);

/// perm of a tensor that loses `axis` (before the permutation).
std::vector<int> without_axis(std::span<const int> perm, int axis);

}  // namespace espalier
