#include "graphs/passes/fold_constants.hpp"

#include <algorithm>

#include "graphs/passes/evaluate.hpp"

namespace espalier {
namespace {

constexpr double kNodeFlops = 1e9;  ///< one node alone

}  // namespace

bool Folder::affordable(const Graph& graph, const Node& node) {
  std::int64_t bytes = 0;
  for (ValueId v : node.outputs) {
    if (v == kAbsent) continue;
    const std::int64_t more = graph.type(v).bytes();
    if (more > bytes_left_ - bytes) return false;
    bytes += more;
  }
  const double flops = layers_.at(node).cost(view_of(graph, node)).flops.value + static_cast<double>(bytes);
  if (!(flops <= kNodeFlops) || flops > flops_left_) return false;
  bytes_left_ -= bytes;
  flops_left_ -= flops;
  return true;
}

bool Folder::fold(Graph& graph, const Node& node) {
  const auto known = [&](ValueId v) { return v == kAbsent || graph.constant(v) != nullptr; };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), known) || !affordable(graph, node)) return false;
  std::vector<Tensor> inputs;
  for (ValueId v : node.inputs) inputs.push_back(v == kAbsent ? Tensor{} : *graph.constant(v));
  KernelOptions options;
  options.reference_only = true;
  std::vector<Tensor> results = evaluate_node(graph, node, layers_, inputs, options);
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if (node.outputs[i] != kAbsent) graph.values[node.outputs[i]].constant = std::move(results[i]);
  return true;
}

void fold_constants(Graph& graph, const LayerTable& layers, std::int64_t max_bytes) {
  Folder folder(layers, max_bytes);
  std::erase_if(graph.nodes, [&](const Node& node) { return folder.fold(graph, node); });
}

}  // namespace espalier
