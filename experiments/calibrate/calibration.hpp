#pragma once

#include "experiments/calibrate/calibration_limits.hpp"
#include "experiments/calibrate/cost_cache.hpp"
#include "runtime/starpu/network_session.hpp"

namespace espalier {

struct CalibrationResult {
  MeasuredCosts costs;  ///< every class of the program that ran
  int runs = 0;
  double seconds = 0;         ///< that measuring took
  double relative_error = 0;  ///< of the sum of all tasks' times
  bool interrupted = false;
};

/// Runs the program again and again, all workers at work, and takes the median time of each class: the times
/// are those under the load of a real run, caches and memory bandwidth shared. The task overhead is the
/// median gap on a worker between the end of a task and the start of the next where that one was ready. Stops
/// when the confidence intervals are small or the time is over. The session must record traces.
CalibrationResult calibrate(starpu::NetworkSession& session, const CalibrationLimits& limits);

}  // namespace espalier
