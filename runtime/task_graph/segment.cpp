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

std::vector<Root> find_roots(const Graph& graph, const LayerTable& layers,
                             const std::map<ValueId, View>& views) {
  std::vector<Root> roots(graph.values.size());
  std::vector<ValueId> renamed(graph.values.size(), kAbsent);
  for (const Node& node : graph.nodes)
    if (is_alias(layers, node)) renamed[static_cast<std::size_t>(node.outputs[0])] = node.inputs[0];
  for (std::size_t i = 0; i < roots.size(); ++i) {
    ValueId v = static_cast<ValueId>(i);
    std::int64_t offset = 0;
    for (;;) {
      if (const auto view = views.find(v); view != views.end()) {
        offset += view->second.offset;
        v = view->second.parent;
      } else if (renamed[static_cast<std::size_t>(v)] != kAbsent) {
        v = renamed[static_cast<std::size_t>(v)];
      } else {
        break;
      }
    }
    roots[i] = {v, offset};
  }
  return roots;
}

std::vector<std::vector<std::int32_t>> node_predecessors(const Graph& graph, const LayerTable& layers,
                                                         const std::map<ValueId, View>& views) {
  struct Part {
    std::int64_t begin, end;
    std::int32_t writer;
  };
  const auto roots = find_roots(graph, layers, views);
  std::vector<std::vector<Part>> parts(graph.values.size());
  std::vector<std::vector<std::int32_t>> before(graph.nodes.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const auto range = [&](ValueId v) {
      const Root& r = roots[static_cast<std::size_t>(v)];
      return Part{r.offset, r.offset + std::max<std::int64_t>(graph.type(v).bytes(), 1),
                  static_cast<std::int32_t>(n)};
    };
    for (const ValueId v : node.inputs) {
      if (v == kAbsent || graph.constant(v) != nullptr) continue;
      const Part read = range(v);
      for (const Part& p : parts[static_cast<std::size_t>(roots[static_cast<std::size_t>(v)].value)])
        if (p.begin < read.end && read.begin < p.end) before[n].push_back(p.writer);
    }
    std::sort(before[n].begin(), before[n].end());
    before[n].erase(std::unique(before[n].begin(), before[n].end()), before[n].end());
    if (is_alias(layers, node)) continue;
    for (const ValueId v : node.outputs)
      if (v != kAbsent)
        parts[static_cast<std::size_t>(roots[static_cast<std::size_t>(v)].value)].push_back(range(v));
  }
  return before;
}

namespace {

struct OpenSegment {
  double seconds = 0;
  std::int32_t waiting = 0;  ///< reads of its nodes by others' that have not joined it
  std::int32_t lane = -1;
};

bool may_join(const OpenSegment& s, double seconds, std::int32_t lane, std::int32_t uses, double target) {
  const bool alone = s.waiting == uses;  // joining delays nobody else
  if (lane >= 0 && s.lane != lane && !(s.lane == -1 && alone)) return false;
  if (seconds < kTaskSeconds) return true;
  // bands of all lanes run at once: within one, longer chains cost no parallelism
  return alone && s.seconds + seconds <= (lane >= 0 ? 4 : 1.25) * target;
}

/// The one segment of a node's predecessors, or -1.
std::int32_t common_segment(std::span<const std::int32_t> predecessors,
                            std::span<const std::int32_t> segment) {
  std::int32_t home = -1;
  for (const std::int32_t p : predecessors) {
    const std::int32_t s = segment[static_cast<std::size_t>(p)];
    if (home != -1 && home != s) return -1;
    home = s;
  }
  return home;
}

}  // namespace

std::vector<std::int32_t> segment_by_chain(std::span<const std::vector<std::int32_t>> predecessors,
                                           std::span<const double> seconds,
                                           std::span<const std::int32_t> lanes, double target) {
  std::vector<std::int32_t> segment(seconds.size(), 0), readers(seconds.size(), 0), reads(seconds.size(), 0);
  const auto lane_of = [&](std::size_t i) { return lanes.empty() ? -1 : lanes[i]; };
  for (std::size_t i = 0; i < predecessors.size(); ++i)
    for (const std::int32_t p : predecessors[i]) {
      // one lane's nodes run one after the other anyway
      if (lane_of(i) >= 0 && lane_of(i) == lane_of(static_cast<std::size_t>(p))) continue;
      ++readers[static_cast<std::size_t>(p)];
      ++reads[i];
    }
  std::vector<OpenSegment> segments;
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const std::int32_t lane = lane_of(i);
    std::int32_t uses = reads[i];
    std::int32_t home = common_segment(predecessors[i], segment);
    if (home < 0 || !may_join(segments[static_cast<std::size_t>(home)], seconds[i], lane, uses, target)) {
      home = static_cast<std::int32_t>(segments.size());
      segments.emplace_back();
      uses = 0;
    }
    OpenSegment& s = segments[static_cast<std::size_t>(home)];
    segment[i] = home;
    s.seconds += seconds[i];
    s.waiting += readers[i] - uses;
    if (lane >= 0) s.lane = lane;
  }
  return segment;
}

}  // namespace espalier
