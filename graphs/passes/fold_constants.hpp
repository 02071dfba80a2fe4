#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Computes nodes whose inputs are all constant, within limits that keep a hostile or merely generous graph
/// (Expand of one number to a gigabyte) from taking the machine: what is over is left to run time.
class Folder {
 public:
  Folder(const LayerTable& layers, std::int64_t max_bytes) : layers_(layers), bytes_left_(max_bytes) {}
  /// True when the outputs of the node have become constants of the graph; their types must be set.
  bool fold(Graph& graph, const Node& node);

 private:
  bool affordable(const Graph& graph, const Node& node);

  const LayerTable& layers_;
  std::int64_t bytes_left_;
  double flops_left_ = 2e10;  ///< all nodes together
};

/// The pass: folds and drops every such node.
void fold_constants(Graph& graph, const LayerTable& layers, std::int64_t max_bytes = std::int64_t{256} << 20);

}  // namespace espalier
