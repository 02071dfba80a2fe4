#include "graphs/passes/remove_dead_code.hpp"

#include <algorithm>

namespace espalier {
namespace {

void drop_nodes(Graph& graph) {
  std::vector<char> needed(graph.values.size(), 0);
  for (ValueId v : graph.outputs) needed[v] = 1;
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    const auto read = [&](ValueId v) { return v != kAbsent && needed[v]; };
    if (std::none_of(node->outputs.begin(), node->outputs.end(), read)) continue;
    while (!read(node->outputs.back())) node->outputs.pop_back();
    for (ValueId v : node->inputs)
      if (v != kAbsent) needed[v] = 1;
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  graph.nodes = std::move(kept);
}

void drop_values(Graph& graph) {
  std::vector<ValueId> ids(graph.values.size(), kAbsent);
  const auto each_reference = [&](auto&& f) {
    for (ValueId& v : graph.inputs) f(v);
    for (ValueId& v : graph.outputs) f(v);
    for (Node& node : graph.nodes) {
      for (ValueId& v : node.inputs) f(v);
      for (ValueId& v : node.outputs) f(v);
    }
  };
  each_reference([&](ValueId& v) {
    if (v != kAbsent) ids[v] = 0;
  });
  std::vector<Value> kept;
  for (std::size_t v = 0; v < ids.size(); ++v) {
    if (ids[v] == kAbsent) continue;
    ids[v] = static_cast<ValueId>(kept.size());
    kept.push_back(std::move(graph.values[v]));
  }
  graph.values = std::move(kept);
  each_reference([&](ValueId& v) {
    if (v != kAbsent) v = ids[v];
  });
}

}  // namespace

void remove_dead_code(Graph& graph) {
  drop_nodes(graph);
  drop_values(graph);
}

}  // namespace espalier
