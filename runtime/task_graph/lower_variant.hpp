#pragma once

#include <span>

#include "graphs/ir/layer.hpp"
#include "runtime/task_graph/bands.hpp"
#include "runtime/task_graph/network_program.hpp"

namespace espalier {

/// Turns a bound graph and the segment of each of its nodes into calls with planned memory. Values that only
/// rename others (aliases) share their memory and run nothing; an output that would share the memory of an
/// input, a constant or another output is copied. A value that is written in parts (views) has a piece for
/// each, and a task that reads a range of it accesses the pieces that it needs.
Variant lower_variant(std::shared_ptr<const Graph> graph, const LayerTable& layers, std::int64_t samples,
                      std::span<const std::int32_t> segment_of_node, std::span<const double> node_seconds,
                      const std::map<ValueId, View>& views = {});

}  // namespace espalier
