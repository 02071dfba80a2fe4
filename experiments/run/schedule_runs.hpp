#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/calibrate/median.hpp"
#include "experiments/run/contender.hpp"
#include "experiments/run/measured_runs.hpp"

namespace espalier {

/// What real runs of one schedule have shown.
struct MeasuredSchedule {
  explicit MeasuredSchedule(const TaskGraph& graph) : times(graph) {}
  std::vector<MeasuredRun> runs;
  int repeated = 0, disturbed = 0;  ///< see MeasuredRuns
  CostSamples times;

  std::vector<double> seconds() const;  ///< makespans
  MedianInterval median() const;
  /// The run whose makespan is the median (of an even number: next to it). Precondition: there are runs.
  const MeasuredRun& typical() const;
};

/// Several schedules of one network, for real on this machine, so that they can be compared with each other
/// and with predictions: in each round every schedule gets some of its runs, another one begins each time,
/// and a few calibration runs go before each schedule of ours; a machine whose speed drifts treats all alike.
/// Each round starts StarPU and the session anew. Schedules are made before the first run, with the costs of
/// the cache or of a first calibration, and stay as they are.
class ScheduleRuns {
 public:
  using Progress = std::function<void(const std::string&)>;

  /// `request`: how to lower and run; its iterations are the runs of each schedule in all. InputError for a
  /// network that does not fit; DeviceError when interrupted.
  ScheduleRuns(const Graph& network, const RunRequest& request, int rounds);
  ScheduleRuns(const ScheduleRuns&) = delete;
  ScheduleRuns& operator=(const ScheduleRuns&) = delete;

  /// See make_contender, whose errors it has.
  void add(const std::string& scheduler);
  /// All rounds; false after an interruption. `progress` is told of each round.
  bool measure(const Progress& progress = {});

  const PreparedProgram& prepared() const { return first_.prepared; }
  const TaskGraph& graph() const { return first_.prepared.program->tasks; }
  const std::vector<Contender>& contenders() const { return contenders_; }
  const MeasuredSchedule& measured(std::size_t contender) const { return measured_[contender]; }
  const CostSamples& calibration() const { return calibrated_; }
  int calibration_disturbed() const { return calibration_disturbed_; }

  /// The problem with the costs of the calibration runs between the measured ones.
  LocalProblem calibrated();
  /// The problem with the task times of one schedule's own runs.
  LocalProblem with_own_times(std::size_t contender);

 private:
  bool round(int number);
  bool under(const std::string& policy, int number);
  bool calibrate_in(starpu::NetworkSession& session, int wanted);
  int runs_of_round(int number) const;
  starpu::SessionOptions session_options() const;

  RunRequest request_;
  int rounds_;
  LocalProblem first_;  ///< the costs that schedules are made with
  CostSamples calibrated_;
  int calibration_disturbed_ = 0;
  std::vector<Contender> contenders_;
  std::vector<MeasuredSchedule> measured_;
};

}  // namespace espalier
