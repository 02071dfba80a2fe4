#pragma once

#include <map>
#include <string>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// What is fixed when a graph is made static.
struct Binding {
  /// Extent of axis 0 of every graph input whose extent there is symbolic or 1. 0: leave symbolic ones at 1.
  /// Where a 1 was replaced, a Reshape of the batch to a constant [1, ...] is one to [batch, ...].
  std::int64_t batch = 0;
  /// Extents by the name of the symbolic dimension; wins over `batch`.
  std::map<std::string, std::int64_t> dims;
  /// Whole shapes by graph input; wins over both.
  std::map<std::string, Shape> shapes;
  /// Values of graph inputs that are known now (shapes, axes, repeats): they become constants.
  std::map<std::string, Tensor> values;
  /// A larger tensor is refused; a guard against hostile models.
  std::int64_t max_tensor_bytes = std::int64_t{1} << 40;
  /// Folding stops when its results take more than this; what is left is computed at run time.
  std::int64_t max_folded_bytes = std::int64_t{256} << 20;
};

/// A copy with every extent bound: infers the types of all values and folds what depends on shapes and
/// constants alone on the way, so that a Reshape sees its target. An If is replaced by the branch that its
/// condition chooses; a graph in ONNX's axis order (Graph::onnx_order) gets its spatial operators bracketed
/// by transposes. A symbolic extent that has the name of some input's axis 0 follows `batch`; other symbolic
/// extents are 1 unless `dims` or `shapes` say otherwise. Random numbers do not occur: binding is a pure
/// function. InputError names the node, its operator and
/// the input shapes when a shape rule refuses, the input and its shape when the binding contradicts the
/// graph.
Graph bind(const Graph& graph, const LayerTable& layers, const Binding& binding);

/// All passes in order on a bound graph (graphs/passes/optimise.cpp reads top to bottom): fold constants,
/// fold batch-norm, move transposes, fuse activations and residual adds, remove dead code. Results stay equal
/// up to rounding; graph inputs and outputs keep names, shapes and ONNX's axis order.
void optimise(Graph& graph, const LayerTable& layers);

}  // namespace espalier
