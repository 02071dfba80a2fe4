#include "graphs/passes/share_equal_nodes.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>

namespace espalier {
namespace {

/// Everything that decides a node's result, as text; nullopt when it has a tensor attribute.
std::optional<std::string> key_of(const Node& node) {
  std::string key = fmt::format("{} {} {}", node.op, fmt::join(node.inputs, ","), node.outputs.size());
  for (const auto& [name, value] : node.attributes.all()) {
    if (std::holds_alternative<Tensor>(value)) return std::nullopt;
    key += "|" + name + "=";
    std::visit(
        [&]<class T>(const T& v) {
          if constexpr (std::is_same_v<T, std::string>)
            key += fmt::format("{}:{}", v.size(), v);
          else if constexpr (std::is_same_v<T, std::vector<std::string>>)
            for (const std::string& s : v) key += fmt::format("{}:{}", s.size(), s);
          else if constexpr (std::is_same_v<T, std::vector<std::int64_t>> ||
                             std::is_same_v<T, std::vector<double>>)
            key += fmt::format("[{}]", fmt::join(v, ","));
          else if constexpr (!std::is_same_v<T, Tensor>)
            key += fmt::format("{}", v);
        },
        value);
  }
  return key;
}

}  // namespace

void share_equal_nodes(Graph& graph) {
  std::vector<ValueId> stands_for(graph.values.size());
  for (std::size_t v = 0; v < stands_for.size(); ++v) stands_for[v] = static_cast<ValueId>(v);
  std::vector<char> is_output(graph.values.size(), 0);
  for (ValueId v : graph.outputs) is_output[v] = 1;
  std::map<std::string, std::vector<ValueId>> seen;
  std::erase_if(graph.nodes, [&](Node& node) {
    for (ValueId& v : node.inputs)
      if (v != kAbsent) v = stands_for[v];
    if (!node.post_ops.empty() || !node.bodies.empty()) return false;
    const auto key = key_of(node);
    if (!key) return false;
    const auto [earlier, is_new] = seen.emplace(*key, node.outputs);
    if (is_new) return false;
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId v = node.outputs[i];
      if (v != kAbsent && (is_output[v] || earlier->second[i] == kAbsent)) return false;
    }
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
      if (node.outputs[i] != kAbsent) stands_for[node.outputs[i]] = earlier->second[i];
    return true;
  });
}

}  // namespace espalier
