#pragma once

#include <vector>

#include "runtime/plan/plan.hpp"
#include "runtime/trace/trace.hpp"

namespace espalier {

/// Curves over the makespan, which is cut into equal parts.
struct Curves {
  std::vector<double> ready;                ///< tasks that are ready and not started, mean over each part
  std::vector<std::vector<double>> memory;  ///< by memory: most bytes in each part; empty: no samples
  std::vector<std::vector<double>> busy;    ///< by kind of device: share of its workers that compute
};
Curves make_curves(const SchedulingProblem& problem, const Trace& trace, std::size_t parts);

/// What crossed a link, by the routes between the memories.
struct LinkUse {
  LinkId link;
  double bytes;  ///< units of edge weight for unit-less graphs
  double busy;   ///< bytes / bandwidth, as a share of the makespan
};
/// Links that carried something, the busiest first.
std::vector<LinkUse> link_use(const SchedulingProblem& problem, const Trace& trace);

}  // namespace espalier
