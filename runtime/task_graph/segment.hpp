#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphs/ir/layer.hpp"
#include "runtime/task_graph/bands.hpp"

namespace espalier {

struct LoweringOptions;

/// Seconds of each node of a bound graph: measured where `options` has it, else the larger of flops over
/// peak and bytes over bandwidth plus the cost of a call. 0 for aliases.
std::vector<double> estimate_node_seconds(const Graph& graph, const LayerTable& layers, std::int64_t samples,
                                          const LoweringOptions& options);

/// Whether the node only renames its input (Layer::alias, nothing fused behind it).
bool is_alias(const LayerTable& layers, const Node& node);

/// The segment of each node: intervals of the topological order of about `target` seconds. An interval is
/// always convex. Cuts are placed within a quarter of the target where the fewest bytes are alive.
std::vector<std::int32_t> segment_by_interval(const Graph& graph, std::span<const double> seconds,
                                              double target);

/// The nodes that compute what each node reads, ascending, once each; through aliases and views.
std::vector<std::vector<std::int32_t>> node_predecessors(const Graph& graph, const LayerTable& layers,
                                                         const std::map<ValueId, View>& views);

/// The segment of each node: a node joins the segment that computes all of its run-time inputs while that
/// has less than `target` seconds and no other node that could run at the same time waits for it. Branches
/// stay apart, so that workers can share one micro-batch. A part of a split node (`lanes` by node, -1: whole;
/// may be empty) joins its own lane's segment and none else's. Segments are numbered in topological order.
std::vector<std::int32_t> segment_by_chain(std::span<const std::vector<std::int32_t>> predecessors,
                                           std::span<const double> seconds,
                                           std::span<const std::int32_t> lanes, double target);

/// What a value's memory belongs to: the value itself, or what it renames or is a part of.
struct Root {
  ValueId value = kAbsent;
  std::int64_t offset = 0;  ///< bytes
};
std::vector<Root> find_roots(const Graph& graph, const LayerTable& layers,
                             const std::map<ValueId, View>& views);

}  // namespace espalier
