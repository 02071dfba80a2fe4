#pragma once

#include <map>
#include <string>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Runs a bound graph on the calling thread, node by node: for folding, tests and as the yardstick of
/// engines. InputError names a missing input or one whose type differs from the graph's.
std::map<std::string, Tensor> evaluate(const Graph& graph, const LayerTable& layers,
                                       const std::map<std::string, Tensor>& inputs,
                                       const KernelOptions& options = {});

/// Outputs of one node from the values of its inputs (empty Tensor for an absent one).
std::vector<Tensor> evaluate_node(const Graph& graph, const Node& node, const LayerTable& layers,
                                  const std::vector<Tensor>& inputs, const KernelOptions& options = {});

}  // namespace espalier
