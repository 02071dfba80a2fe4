#include "layers/reduce/one_axis.hpp"

#include "graphs/base/error.hpp"
#include "layers/common/permute.hpp"

namespace espalier {

OneAxis one_axis(const Shape& shape, int index) {
  return {index, shape.elements(0, index), shape[index], shape.elements(index + 1, shape.rank())};
}

OneAxis checked_axis(const NodeView& view, std::int64_t fallback, std::span<const DType> dtypes) {
  if (!view.has_input(0)) throw InputError("input 0 is missing");
  require_dtype(view.inputs[0]->dtype, dtypes, "input 0");
  const Shape& shape = view.shape(0);
  return one_axis(shape, normalise_axis(view.attributes().get_int("axis", fallback), shape.rank()));
}

LayerCost axis_cost(const NodeView& view) {
  LayerCost cost = elementwise_cost(view, 0);
  cost.flops = Flops(static_cast<double>(view.shape(0).elements()));
  return cost;
}

std::optional<std::vector<int>> permute_axis(Graph& graph, Node& node, std::span<const int> perm,
                                             std::int64_t fallback) {
  const int rank = graph.type(node.inputs.at(0)).shape.rank();
  if (rank != static_cast<int>(perm.size())) return std::nullopt;
  const int axis = normalise_axis(node.attributes.get_int("axis", fallback), rank);
  const std::vector<int> place = inverse_permutation(perm);
  node.attributes.set("axis", static_cast<std::int64_t>(place[static_cast<std::size_t>(axis)]));
  return std::vector<int>(perm.begin(), perm.end());
}

std::vector<int> without_axis(std::span<const int> perm, int axis) {
  std::vector<int> left;
  for (int p : perm)
    if (p != axis) left.push_back(p > axis ? p - 1 : p);
  return left;
}

}  // namespace espalier
