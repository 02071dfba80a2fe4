#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/run_network.hpp"
#include "experiments/validation/differences.hpp"
#include "experiments/validation/rank_agreement.hpp"

/// How far predictions can be trusted: the same schedules on simulating engines and for real on this machine.
namespace espalier {

struct ValidationRequest {
  std::vector<std::string> graphs;
  std::vector<std::string> schedulers;  ///< see make_contender
  std::vector<std::string> engines;     ///< that predict: "model", "simgrid"
  RunRequest run;                       ///< batch, lowering, seed; iterations: of each scheduler in all
  int blocks = 5;  ///< in each of which every scheduler and the calibration have their turn
  std::string weights;
};

/// One engine's answer for one scheduler.
struct EngineResult {
  std::string engine;  ///< "model", "simgrid"
  double makespan = 0;
  double error = 0;            ///< makespan / measured median - 1
  TraceDifference difference;  ///< simulated - real, where the time went
};

struct ScheduleValidation {
  std::string scheduler;
  std::vector<double> seconds;           ///< measured, each run
  double median = 0, low = 0, high = 0;  ///< 95 % confidence interval of the median
  int repeated = 0, disturbed = 0;       ///< see RunReport
  std::vector<EngineResult> engines;     ///< those that have the scheduler
  /// The model engine with the task times of these very runs in place of the calibrated ones: what remains is
  /// the engine's own error, the rest is that of the costs. 0: not simulated.
  double own_times_makespan = 0, own_times_error = 0;
};

struct GraphValidation {
  std::string graph;
  std::int64_t batch = 1, micro_batch = 1;
  std::size_t tasks = 0;
  unsigned workers = 0;
  int calibration_runs = 0, calibration_disturbed = 0;
  double calibration_error = 0, task_overhead = 0, run_overhead = 0, deviation = 0;
  std::vector<ScheduleValidation> schedules;
  struct Order {
    std::string engine;
    RankAgreement agreement;
    double median_error = 0, largest_error = 0;  ///< of the absolute makespan errors
  };
  std::vector<Order> orders;  ///< by engine
  /// Two engines against each other, over the schedules that both have.
  struct Engines {
    std::string first, second;
    std::size_t schedules = 0;
    double median_apart = 0, largest_apart = 0;  ///< |second / first - 1|
    double tau = 0;                              ///< Kendall's, ties within a thousandth
  };
  std::optional<Engines> between;
};

struct Validation {
  std::vector<GraphValidation> graphs;
  bool interrupted = false;
  struct Total {
    std::string engine;
    std::size_t schedules = 0;
    double median_error = 0;  ///< over all graphs and schedulers
  };
  std::vector<Total> totals;
};

/// Measures and predicts. Calibration and every scheduler take turns, `blocks` times, so that a machine whose
/// speed drifts treats all alike; static schedulers plan beforehand, with the costs of the cache or of a
/// first calibration. InputError for an unknown scheduler or graph.
Validation validate_engines(const ValidationRequest& request,
                            const std::function<void(const std::string&)>& progress = {});

std::string validation_to_text(const Validation& validation);
std::string validation_to_json(const Validation& validation, const ValidationRequest& request);

}  // namespace espalier
