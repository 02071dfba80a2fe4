#include "graphs/passes/types.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

void check_counts(const Node& node, const Layer& layer) {
  const auto fused = std::count_if(node.post_ops.begin(), node.post_ops.end(),
                                   [](const PostOp& op) { return op.input_index >= 0; });
  const auto inputs = static_cast<int>(node.inputs.size()) - static_cast<int>(fused);
  const auto outputs = static_cast<int>(node.outputs.size());
  if (inputs < layer.min_inputs || inputs > layer.max_inputs)
    throw InputError(
        fmt::format("{} inputs, from {} to {} are accepted", inputs, layer.min_inputs, layer.max_inputs));
  for (int i = 0; i < layer.min_inputs; ++i)
    if (node.inputs[static_cast<std::size_t>(i)] == kAbsent)
      throw InputError(fmt::format("input {} is missing", i));
  if (outputs < 1 || outputs > layer.max_outputs)
    throw InputError(fmt::format("{} outputs, from 1 to {} are accepted", outputs, layer.max_outputs));
}

/// Shape rules of layers on [N, spatial..., C] take the two outer axes for granted.
void check_rank(const NodeView& view, const Layer& layer) {
  if (layer.layout == LayoutRule::channels_last && view.has_input(0) && view.shape(0).rank() < 2)
    throw InputError(fmt::format("input {} has {} axes; a batch and channels, at least 2, are needed",
                                 view.shape(0).to_string(), view.shape(0).rank()));
}

}  // namespace

std::string describe_inputs(const Graph& graph, const Node& node) {
  std::string text;
  for (ValueId v : node.inputs) {
    const bool known = v != kAbsent && graph.values[v].type.has_value();
    text += fmt::format("{}{}", text.empty() ? "" : ", ", known ? graph.type(v).to_string() : "-");
  }
  return text;
}

void make_names_unique(Graph& graph) {
  std::unordered_set<std::string> taken;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    Node& node = graph.nodes[i];
    const std::string wanted = node.name.empty() ? node.op : node.name;
    node.name = wanted;
    for (std::size_t n = i; !taken.insert(node.name).second; ++n) node.name = fmt::format("{}_{}", wanted, n);
  }
}

std::vector<TensorType> infer_types(const Graph& graph, const Node& node, const LayerTable& layers) {
  const Layer& layer = layers.at(node);
  try {
    check_counts(node, layer);
    NodeView view = view_of(graph, node);
    check_rank(view, layer);
    view.outputs.clear();
    std::vector<TensorType> types = layer.infer(view);
    if (types.size() < node.outputs.size())
      throw InputError(fmt::format("{} outputs, {} are accepted", node.outputs.size(), types.size()));
    return types;
  } catch (const InputError& error) {
    throw InputError(fmt::format("node {} ({}) of {}: {}", node.name, node.op, describe_inputs(graph, node),
                                 error.what()));
  }
}

void set_types(Graph& graph, const Node& node, const LayerTable& layers) {
  const std::vector<TensorType> types = infer_types(graph, node, layers);
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kAbsent) graph.values[node.outputs[i]].type = types[i];
}

}  // namespace espalier
