#pragma once

#include <string>
#include <vector>

#include "experiments/compare/idle_time.hpp"
#include "runtime/trace/trace.hpp"

namespace espalier {

/// Seconds of all workers that one kind of task took.
struct KindDifference {
  std::string codelet;
  std::size_t tasks = 0;
  double simulated = 0, real = 0;
};

/// Where two executions of one task graph differ: busy time by kind of task, lost time by cause.
struct TraceDifference {
  std::vector<KindDifference> kinds;  ///< greatest difference first
  LostTimes simulated_lost{}, real_lost{};
  /// "conv2d tasks +1.2 ms", "idle, nothing ready -0.4 ms": the greatest of all; empty where none matters.
  std::string largest() const;
};

/// Both by workers of the problem's platform; the runtime's cost of tasks counts as lost time in both.
TraceDifference difference_of(const SchedulingProblem& problem, const Trace& simulated, const Trace& real);

}  // namespace espalier
