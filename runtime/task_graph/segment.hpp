#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphs/ir/layer.hpp"

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

/// The segment of each node: a node joins the segment that computes all of its run-time inputs while that
/// has less than `target` seconds and no other node that could run at the same time waits for it. Branches
/// stay apart, so that workers can share one micro-batch. Segments are numbered in topological order.
std::vector<std::int32_t> segment_by_chain(const Graph& graph, std::span<const double> seconds,
                                           double target);

}  // namespace espalier
