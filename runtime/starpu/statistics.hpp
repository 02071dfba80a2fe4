#pragma once

#include <cstdint>
#include <vector>

namespace espalier::starpu {

/// Where the time of a run went. The sum of the kernels' times over workers x makespan is what was used.
struct RunStatistics {
  bool interrupted = false;            ///< the stop flag was raised: outputs are not complete
  double makespan = 0;                 ///< seconds from the first submission to the end of the last task
  std::vector<double> kernel_seconds;  ///< by worker
  std::vector<std::uint64_t> tasks;    ///< by worker
  double waited_for_cores = 0;         ///< seconds that this program's threads were ready and had no core

  double busy() const {
    double sum = 0;
    for (const double s : kernel_seconds) sum += s;
    return sum;
  }
  /// Share of the workers' time that other programs took.
  double taken_by_others() const {
    const double time = static_cast<double>(kernel_seconds.size()) * makespan;
    return time > 0 ? waited_for_cores / time : 0;
  }
  /// Other programs took more than one in fifty: the times say little.
  bool disturbed() const { return taken_by_others() > 0.02; }
  /// Share of the workers' time spent outside kernels: waiting, scheduling, submitting.
  double lost() const {
    return makespan <= 0 || kernel_seconds.empty()
               ? 0
               : 1 - busy() / (static_cast<double>(kernel_seconds.size()) * makespan);
  }
};

}  // namespace espalier::starpu
