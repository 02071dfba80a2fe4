#pragma once

#include <cmath>
#include <vector>

#include "experiments/calibrate/calibration_limits.hpp"
#include "experiments/calibrate/cost_cache.hpp"
#include "runtime/starpu/network_session.hpp"

namespace espalier {

struct CalibrationResult {
  MeasuredCosts costs;  ///< every class of the program that ran
  int runs = 0;
  int disturbed = 0;          ///< of them, by other programs: not counted, unless fewer than three were not
  bool trusted = false;       ///< enough runs were undisturbed
  double seconds = 0;         ///< that measuring took
  double relative_error = 0;  ///< of the sum of all tasks' times
  bool interrupted = false;
};

/// Times of tasks from traces of real runs, one after the other.
class CostSamples {
 public:
  explicit CostSamples(const TaskGraph& graph);
  void add(const Trace& trace, unsigned workers);
  int runs() const { return runs_; }
  MeasuredCosts costs();  ///< robust means
  /// After costs(): of the sum of all tasks' times, errors of classes taken as independent.
  double relative_error() const { return sum_ > 0 ? std::sqrt(variance_) / sum_ : 0; }

 private:
  double deviation() const;

  const TaskGraph& graph_;
  struct Sample {
    double seconds;
    int run;
  };
  int runs_ = 0;
  std::vector<std::vector<Sample>> times_;  ///< by class
  std::vector<double> count_, gaps_, edges_;
  std::vector<double> means_;  ///< by class, of costs()
  double sum_ = 0, variance_ = 0;
};

/// Runs the program again and again, all workers at work, and takes the robust mean time of each class: the
/// times are those under the load of a real run, caches and memory bandwidth shared. The task overhead is the
/// mean gap on a worker between the end of a task and the start of the next where that one was ready. Stops
/// when the confidence intervals are small or the time is over. Runs that other programs disturbed are passed
/// over. The session must record traces.
CalibrationResult calibrate(starpu::NetworkSession& session, const CalibrationLimits& limits);

}  // namespace espalier
