#pragma once

#include <string>

#include "experiments/compare/comparison.hpp"

/// Comparisons and traces for people and other programs. README.md has the formats.
namespace espalier {

/// One self-contained page: no network, no other files.
std::string comparison_to_html(const Comparison& comparison);

/// RFC 4180: a row for each scheduler of each case, a header line.
std::string comparison_to_csv(const Comparison& comparison);

/// A trace in the Paje format that ViTE opens: states of workers, links for transfers, variables for
/// memories.
std::string to_paje(const Trace& trace, const TaskGraph& graph, const Platform& platform);

/// The task graph for Graphviz: tasks with their least time, edges with bytes.

std::string to_dot(const TaskGraph& graph, const CostTable& costs);

/// folder/GRAPH-PLATFORM-SCHEDULER.trace.json and .paje, and once folder/GRAPH.dot.
void write_traces(const std::string& folder, const ComparisonCase& c, const SimulationResult& result);

}  // namespace espalier
