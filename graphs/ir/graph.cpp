#include "graphs/ir/graph.hpp"

#include <fmt/format.h>
#include <unordered_set>

#include "graphs/base/error.hpp"

namespace espalier {

ValueId Graph::add_value(std::string value_name, std::optional<TensorType> type) {
  values.push_back({std::move(value_name), std::move(type), std::nullopt, {}});
  return static_cast<ValueId>(values.size() - 1);
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  const ValueId v = add_value(std::move(value_name), tensor.type());
  values[v].constant = std::move(tensor);
  return v;
}

Node& Graph::add_node(std::string op, std::string node_name, std::vector<ValueId> node_inputs,
                      std::vector<std::string> output_names, Attributes attributes) {
  Node node{std::move(node_name), std::move(op), std::move(attributes), std::move(node_inputs), {}, {}, {}};
  for (std::string& n : output_names) node.outputs.push_back(add_value(std::move(n)));
  nodes.push_back(std::move(node));
  return nodes.back();
}

const TensorType& Graph::type(ValueId v) const {
  if (v == kAbsent || !values[v].type)
    throw InternalError(fmt::format("value {} has no type yet", v == kAbsent ? "(absent)" : values[v].name));
  return *values[v].type;
}

std::vector<std::int32_t> Graph::producers() const {
  std::vector<std::int32_t> producer(values.size(), -1);
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (ValueId v : nodes[n].outputs)
      if (v != kAbsent) producer[v] = static_cast<std::int32_t>(n);
  return producer;
}

std::vector<std::vector<std::int32_t>> Graph::consumers() const {
  std::vector<std::vector<std::int32_t>> users(values.size());
  for (std::size_t n = 0; n < nodes.size(); ++n)
    for (ValueId v : nodes[n].inputs)
      if (v != kAbsent) users[v].push_back(static_cast<std::int32_t>(n));
  return users;
}

void Graph::validate() const {
  const auto in_range = [&](ValueId v) { return v >= 0 && v < static_cast<ValueId>(values.size()); };
  std::vector<char> ready(values.size(), 0);
  for (std::size_t v = 0; v < values.size(); ++v) ready[v] = values[v].constant.has_value();
  for (ValueId v : inputs) {
    if (!in_range(v)) throw InternalError("a graph input is out of range");
    ready[v] = 1;
  }
  std::unordered_set<std::string> names;
  for (const Node& node : nodes) {
    if (!names.insert(node.name).second)
      throw InternalError(fmt::format("two nodes are called {}", node.name));
    for (ValueId v : node.inputs)
      if (v != kAbsent && (!in_range(v) || !ready[v]))
        throw InternalError(fmt::format("node {} reads a value that nothing before it gives", node.name));
    for (ValueId v : node.outputs) {
      if (v == kAbsent) continue;
      if (!in_range(v) || ready[v])
        throw InternalError(fmt::format("node {} writes a value twice", node.name));
      ready[v] = 1;
    }
  }
  for (ValueId v : outputs)
    if (!in_range(v) || !ready[v]) throw InternalError("a graph output is given by nothing");
}

}  // namespace espalier
