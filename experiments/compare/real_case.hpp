#pragma once

#include "experiments/compare/comparison.hpp"
#include "experiments/run/schedule_runs.hpp"

namespace espalier {

/// A network on this machine whose schedules run for real and on simulating engines: each scheduler decides
/// once, or is the same policy, for all engines. Costs are those measured between the real runs.
class RealCase {
 public:
  /// InputError for options that a real run does not have.
  RealCase(const ProblemOptions& options, const ComparisonRequest& request);

  std::size_t tasks() const { return runs_.graph().task_count(); }
  /// InputError when the scheduler refuses the case.
  void add(const std::string& scheduler) { runs_.add(scheduler); }
  /// Runs all that were added; false after an interruption.
  bool measure(const ScheduleRuns::Progress& progress) { return runs_.measure(progress); }

  /// After measure(): the problem that the engines simulate.
  LoadedProblem problem();
  /// After problem(). InputError for a policy that the engine does not have. nullopt: it was not added.
  /// `stop`: see EngineOptions.
  std::optional<SimulationResult> result(const std::string& engine, const std::string& scheduler,
                                         const std::function<bool()>& stop) const;
  std::optional<Measured> measured(const std::string& scheduler) const;

 private:
  std::optional<std::size_t> place_of(const std::string& scheduler) const;

  ScheduleRuns runs_;
  std::optional<LocalProblem> local_;
};

}  // namespace espalier
