#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/task_graph/sources/source.hpp"

namespace espalier::source {

using Edge = std::pair<std::uint32_t, std::uint32_t>;

/// Topological order of n vertices, smallest id first: the identity when the ids already are one. InputError
/// naming the vertices of a cycle. O(n log n + e).
std::vector<std::uint32_t> topological_order(std::size_t n, const std::vector<Edge>& edges,
                                             const std::vector<std::string>& names,
                                             const std::string& graph_name);

/// A graph with one time for each task and one weight for each edge, in units of its own: what .stg and .dot
/// files hold.
struct WeightedDag {
  std::string name;
  std::vector<std::string> names;    ///< by task
  std::vector<double> weights;       ///< by task
  std::vector<Edge> edges;           ///< from, to
  std::vector<double> edge_weights;  ///< by edge; 0: only an order
};

/// A task for each vertex, its weight as its time on every kind of device; a datum for each edge of weight >
/// 0.
LoadedTaskGraph to_task_graph(const WeightedDag& dag);

}  // namespace espalier::source
