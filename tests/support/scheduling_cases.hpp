#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/plan/plan.hpp"

/// Small scheduling problems built in memory, for the schedulers' tests.
namespace espalier::test {

/// Owns what a SchedulingProblem refers to.
struct ProblemCase {
  TaskGraph graph;
  Platform platform;
  CostTable costs;
  SchedulingProblem problem(double time_limit = 1.0, std::uint64_t seed = 0) const {
    return {graph, platform, costs, seed, Seconds(time_limit)};
  }
};

/// A graph and a machine by their names on the command line; costs as the graph gives them, else a
/// roofline's.
ProblemCase named_case(const std::string& graph, const std::string& machine);

struct WeightedEdge {
  TaskId from, to;
  std::int64_t bytes;  ///< 0: order only
};

/// `workers` kinds of one worker and one memory each, one byte a second between any two, links not shared.
/// times[task][worker].
ProblemCase unrelated_case(const std::vector<std::vector<double>>& times,
                           const std::vector<WeightedEdge>& edges);
/// Equal workers, each with its own memory.
ProblemCase identical_case(const std::vector<double>& times, const std::vector<WeightedEdge>& edges,
                           std::size_t workers);
/// Layered random graph on random unrelated workers.
ProblemCase random_case(std::size_t tasks, std::size_t workers, double edge_probability,
                        std::int64_t largest_bytes, std::uint64_t seed);

/// The 10 tasks and 3 processors of Topcuoglu, Hariri, Wu 2002, figure 2.
ProblemCase topcuoglu_case();
/// The 10 tasks and 3 processors of Arabnejad, Barbosa 2014, figure 1.
ProblemCase arabnejad_case();

}  // namespace espalier::test
