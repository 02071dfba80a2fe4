#include "runtime/task_graph/segment.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/task_graph/lower.hpp"

namespace espalier {
namespace {

constexpr double kCallSeconds = 1e-6;   ///< of entering a kernel
constexpr double kTaskSeconds = 15e-6;  ///< of a runtime's task: a node below this never waits alone

/// Bytes alive after each node in topological order, leaving inputs and constants aside.
std::vector<std::int64_t> live_bytes(const Graph& graph) {
  const auto n = graph.nodes.size();
  const auto consumers = graph.consumers();
  std::vector<std::int64_t> change(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i)
    for (const ValueId v : graph.nodes[i].outputs) {
      if (v == kAbsent) continue;
      const auto& readers = consumers[static_cast<std::size_t>(v)];
      const auto last = readers.empty() ? static_cast<std::int32_t>(i) : readers.back();
      change[i] += graph.type(v).bytes();
      change[static_cast<std::size_t>(last)] -= graph.type(v).bytes();
    }
  for (std::size_t i = 1; i < n; ++i) change[i] += change[i - 1];
  return change;
}

/// End of the interval that starts at `begin`: where its time is within a quarter of `share`, the cut with
/// the fewest bytes alive, among equals the nearest to the share.
std::size_t interval_end(std::span<const double> seconds, std::span<const std::int64_t> alive,
                         std::size_t begin, double share) {
  std::size_t best = 0;
  double sum = 0, best_distance = 0;
  for (std::size_t i = begin; i < seconds.size(); ++i) {
    sum += seconds[i];
    if (sum < 0.75 * share) continue;
    if (sum > 1.25 * share && best != 0) break;
    const double distance = std::abs(sum - share);
    if (best == 0 || alive[i] < alive[best - 1] ||
        (alive[i] == alive[best - 1] && distance < best_distance)) {
      best = i + 1;
      best_distance = distance;
    }
    if (sum > 1.25 * share) break;
  }
  return best == 0 ? seconds.size() : best;
}

}  // namespace

bool is_alias(const LayerTable& layers, const Node& node) {
  return node.post_ops.empty() && layers.at(node).alias && !node.inputs.empty() && !node.outputs.empty() &&
         node.inputs[0] != kAbsent && node.outputs[0] != kAbsent;
}

std::vector<double> estimate_node_seconds(const Graph& graph, const LayerTable& layers, std::int64_t samples,
                                          const LoweringOptions& options) {
  std::vector<double> seconds;
  seconds.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    if (is_alias(layers, node)) {
      seconds.push_back(0);
      continue;
    }
    if (const auto it = options.node_seconds.find(node.name); it != options.node_seconds.end()) {
      seconds.push_back(it->second * static_cast<double>(samples));
      continue;
    }
    const LayerCost cost = layers.at(node).cost(view_of(graph, node));
    const auto moved = static_cast<double>(cost.bytes_read.value + cost.bytes_written.value);
    seconds.push_back(kCallSeconds + std::max(cost.flops.value / options.flops_per_second,
                                              moved / options.bytes_per_second));
  }
  return seconds;
}

std::vector<std::int32_t> segment_by_interval(const Graph& graph, std::span<const double> seconds,
                                              double target) {
  const std::size_t n = seconds.size();
  const auto alive = live_bytes(graph);
  double left = 0;
  for (const double s : seconds) left += s;
  const double share = left / std::max(1.0, std::round(left / target));
  std::vector<std::int32_t> segment(n, 0);
  std::int32_t current = 0;
  for (std::size_t begin = 0; begin < n; ++current) {
    const std::size_t end = left <= 1.25 * share ? n : interval_end(seconds, alive, begin, share);
    for (std::size_t i = begin; i < end; ++i) {
      segment[i] = current;
      left -= seconds[i];
    }
    begin = end;
  }
  return segment;
}

std::vector<std::int32_t> segment_by_chain(const Graph& graph, std::span<const double> seconds,
                                           double target) {
  const auto producer = graph.producers();
  const auto consumers = graph.consumers();
  std::vector<std::int32_t> segment(seconds.size(), 0);
  std::vector<double> sum;
  // nodes outside the segment that read its values, roughly: outputs' readers less the joined ones
  std::vector<std::int32_t> waiting;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    std::int32_t home = -1;
    bool joins = true;
    for (const ValueId v : graph.nodes[i].inputs) {
      const std::int32_t p = v == kAbsent ? -1 : producer[static_cast<std::size_t>(v)];
      if (p < 0) continue;
      const std::int32_t s = segment[static_cast<std::size_t>(p)];
      joins = joins && (home == -1 || home == s);
      home = s;
    }
    std::int32_t uses = 0, readers = 0;
    if (home >= 0)
      for (const ValueId v : graph.nodes[i].inputs)
        uses += v != kAbsent && producer[static_cast<std::size_t>(v)] >= 0 ? 1 : 0;
    for (const ValueId v : graph.nodes[i].outputs)
      if (v != kAbsent) readers += static_cast<std::int32_t>(consumers[static_cast<std::size_t>(v)].size());
    joins = joins && home >= 0;
    if (joins) {
      const auto h = static_cast<std::size_t>(home);
      const bool alone = waiting[h] == uses;
      joins = seconds[i] < kTaskSeconds || (alone && sum[h] + seconds[i] <= 1.25 * target);
    }
    if (!joins) {
      home = static_cast<std::int32_t>(sum.size());
      sum.push_back(0);
      waiting.push_back(0);
      uses = 0;
    }
    const auto h = static_cast<std::size_t>(home);
    segment[i] = home;
    sum[h] += seconds[i];
    waiting[h] += readers - uses;
  }
  return segment;
}

}  // namespace espalier
