#pragma once

#include <string>

#include "graphs/ir/graph.hpp"

namespace espalier {

/// "conv2d_forward" for a Conv over two spatial axes, else the operator in snake case: "max_pool_forward".
std::string codelet_name(const Graph& graph, const Node& node);

/// Operator, attributes, types of inputs and outputs and fused operations of a node in words, equal for
/// equal work whatever the node is called: "Conv [pads=1,1,1,1] (float32 [1, 56, 56, 64], ...) -> ... +Relu".
std::string signature_of(const Graph& graph, const Node& node);

}  // namespace espalier
