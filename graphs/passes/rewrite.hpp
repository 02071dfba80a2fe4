#pragma once

#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

#include "graphs/ir/layer.hpp"

/// What the passes share: names, uses, replacing values, keeping the order of nodes.
namespace espalier {

/// Gives every node a name that no other node has, by appending a number where needed.
void make_names_unique(Graph& graph);

/// The single node that reads v, or -1 when several or none do or when v is a graph output.
class Uses {
 public:
  explicit Uses(const Graph& graph);
  std::int32_t producer(ValueId v) const { return v == kAbsent ? -1 : producers_[v]; }
  const std::vector<std::int32_t>& consumers(ValueId v) const { return consumers_[v]; }
  bool is_output(ValueId v) const { return outputs_.count(v) != 0; }
  std::int32_t only_consumer(ValueId v) const {
    return consumers_[v].size() == 1 && !is_output(v) ? consumers_[v].front() : -1;
  }

 private:
  std::vector<std::int32_t> producers_;
  std::vector<std::vector<std::int32_t>> consumers_;
  std::unordered_set<ValueId> outputs_;
};

/// Types of a node's outputs by its layer's rule, after the counts of its inputs and outputs are checked.
/// InputError names the node, its operator and its input types.
std::vector<TensorType> infer_types(const Graph& graph, const Node& node, const LayerTable& layers);

/// infer_types written into the graph.
void set_types(Graph& graph, const Node& node, const LayerTable& layers);

}  // namespace espalier
