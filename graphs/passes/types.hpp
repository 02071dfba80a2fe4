#pragma once

#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Gives every node a name that no other node has, by appending a number where needed.
void make_names_unique(Graph& graph);

/// Types of a node's outputs by its layer's rule, after the counts of its inputs and outputs are checked.
/// InputError names the node, its operator and its input types.
std::vector<TensorType> infer_types(const Graph& graph, const Node& node, const LayerTable& layers);

/// "float32 [1, 3], -": the types of the node's inputs for messages.
std::string describe_inputs(const Graph& graph, const Node& node);

/// infer_types written into the graph.
void set_types(Graph& graph, const Node& node, const LayerTable& layers);

}  // namespace espalier
