#include "experiments/workloads/inspect.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// Running statistics are measured, not trained, and published counts leave them out.
bool is_trained(const Node& node, std::size_t input) {
  return node.op != "BatchNormalization" || input < 3;
}

OperatorFacts facts_of(const Graph& graph, const Node& node, const LayerTable& layers,
                       std::unordered_set<ValueId>& counted, Bytes& parameter_bytes) {
  OperatorFacts facts;
  facts.name = node.name;
  facts.op = node.op;
  for (const PostOp& post : node.post_ops) facts.op += "+" + post.op;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId v = node.inputs[i];
    if (v == kAbsent) continue;
    facts.inputs.push_back(graph.type(v));
    const Tensor* constant = graph.constant(v);
    if (constant == nullptr || !is_float(constant->dtype()) || constant->shape().rank() == 0) continue;
    if (!counted.insert(v).second) continue;
    parameter_bytes += Bytes(constant->bytes());
    if (is_trained(node, i)) facts.parameters += constant->elements();
  }
  for (ValueId v : node.outputs)
    if (v != kAbsent) facts.outputs.push_back(graph.type(v));
  const Layer& layer = layers.at(node);
  const LayerCost cost = layer.alias ? LayerCost{} : layer.cost(view_of(graph, node));
  facts.flops = cost.flops;
  facts.bytes = cost.bytes_read + cost.bytes_written;
  return facts;
}

void estimate(OperatorFacts& facts, const Roofline& roofline) {
  const auto bytes = static_cast<double>(facts.bytes.value);
  const double compute = facts.flops.value / roofline.peak_flops, memory = bytes / roofline.bandwidth;
  facts.intensity = bytes > 0 ? facts.flops.value / bytes : 0;
  facts.compute_bound = compute >= memory && compute > 0;
  facts.time = Seconds(std::max(compute, memory));
}

void mark_bottlenecks(GraphFacts& facts) {
  std::vector<std::size_t> order(facts.operators.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return facts.operators[a].time > facts.operators[b].time;
  });
  double sum = 0;
  for (std::size_t i : order) {
    if (sum >= 0.5 * facts.time.value) break;
    sum += facts.operators[i].time.value;
    facts.operators[i].bottleneck = true;
  }
}

}  // namespace

GraphFacts inspect_graph(const Graph& graph, const LayerTable& layers, const Roofline& roofline) {
  if (!(roofline.peak_flops > 0) || !(roofline.bandwidth > 0))
    throw InputError("the roofline's peak and bandwidth must be positive");
  GraphFacts facts;
  std::unordered_set<ValueId> counted;
  for (const Node& node : graph.nodes) {
    OperatorFacts row = facts_of(graph, node, layers, counted, facts.parameter_bytes);
    estimate(row, roofline);
    facts.parameters += row.parameters;
    facts.flops += row.flops;
    facts.bytes += row.bytes;
    facts.time += row.time;
    facts.operators.push_back(std::move(row));
  }
  for (OperatorFacts& row : facts.operators) row.share = facts.time.value > 0 ? row.time / facts.time : 0;
  mark_bottlenecks(facts);
  return facts;
}

}  // namespace espalier
