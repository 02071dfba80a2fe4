#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/compare/critical_chain.hpp"
#include "experiments/compare/curves.hpp"
#include "experiments/compare/engine_differences.hpp"
#include "experiments/compare/gantt.hpp"
#include "experiments/compare/idle_time.hpp"
#include "experiments/compare/what_if.hpp"
#include "experiments/simulate/problem_options.hpp"

/// Every scheduler on the same graph and machine: who wins, by how much, and why.
namespace espalier {

/// Real runs of one schedule.
struct Measured {
  std::vector<double> seconds;  ///< makespans
  double low = 0, high = 0;     ///< 95 % confidence interval of the median
  int disturbed = 0;            ///< runs during which other programs used the cores
};

/// One scheduler's execution and what it tells.
struct ComparisonRow {
  std::string scheduler, family, about, engine;
  SimulationSummary summary;
  double scheduler_seconds = 0;
  double engine_seconds = 0;  ///< wall time of the simulation, without planning
  std::size_t transfers = 0;
  bool planned = false;         ///< a static plan was carried out
  double planned_makespan = 0;  ///< by the scheduler's own model
  bool proven_optimal = false;
  std::vector<WorkerTime> kinds;  ///< by kind of device, of all its workers
  CriticalChain chain;
  std::vector<LinkUse> links;
  Curves curves;
  Gantt gantt;
  std::vector<std::string> chain_text;  ///< the longest steps of the chain in words
  std::optional<double> real_makespan;  ///< of a real run with the same scheduler
  std::optional<Measured> measured;     ///< of rows of the engine starpu, whose makespan is the median
};

struct LeftOut {
  std::string scheduler, engine, reason;
};

/// One graph on one platform.
struct ComparisonCase {
  std::unique_ptr<LoadedProblem> loaded;
  Reproduction how;
  Bounds bounds;
  double proven = 0;                          ///< lower bound that the exact scheduler proved; 0: none
  std::vector<ComparisonRow> rows;            ///< by engine as asked for, the shortest makespan first
  std::vector<EngineDifference> differences;  ///< of further engines from the first
  std::vector<LeftOut> left_out;
  Savings savings;                   ///< for the first row
  std::vector<std::string> verdict;  ///< sentences

  double best_bound() const;
  /// Rows of the first engine, which the verdict is about.
  std::span<const ComparisonRow> first_engine() const;
  /// "critical path", "area", ...
  std::string best_bound_name() const;
};

struct Comparison {
  std::vector<ComparisonCase> cases;
  std::string command;  ///< that runs it again
  bool interrupted = false;
};

struct ComparisonRequest {
  std::vector<std::string> graphs, platforms, schedulers, engines;
  ProblemOptions options;                        ///< without graph and platform
  std::size_t bars = 400'000;                    ///< of all Gantt charts together
  std::size_t most_bars = 200'000;               ///< of one chart
  std::map<std::string, double> real_makespans;  ///< by scheduler
  bool savings = true;                           ///< simulate what halving layers and links would save
  int iterations = 15, rounds = 5;               ///< of real runs, see ScheduleRuns
  const std::atomic<bool>* interrupt = nullptr;  ///< stops real runs
  bool real_runs() const;                        ///< the engine starpu is among the engines
};

/// Told while the comparison goes on; each may be empty.
struct ComparisonWatcher {
  std::function<void(const ComparisonCase&, const std::string& scheduler, std::size_t done, std::size_t all)>
      on_start;
  std::function<void(const ComparisonCase&, const SimulationResult&)> on_result;
  std::function<void(const std::string& what)> on_real_runs;  ///< real runs go on: "round 2 of 5"
  std::function<bool()> stop;
};

/// The scheduler names of "all" or of a list with commas, each once, in the given order. InputError for an
/// unknown name, listing those that exist.
std::vector<std::string> schedulers_of(const std::string& text);
/// InputError for an engine that does not exist, listing those that do; for the engine starpu with a platform
/// that is not this machine or a graph that has no kernels.
void require_engines(const ComparisonRequest& request);

/// Runs all cases. A scheduler that refuses a case (memory, size) is left out with its reason; InputError
/// when all refuse.
Comparison compare(const ComparisonRequest& request, const ComparisonWatcher& watcher = {});

/// The comparison in words for a terminal.
std::string comparison_to_text(const Comparison& comparison);
/// As docs/architecture.md says of JSON results.
std::string comparison_to_json(const Comparison& comparison);

/// Sentences: who wins, by how much, how far from the bound, and why. Sets ComparisonCase::verdict.
void judge(ComparisonCase& c);

/// "12.34 ms", or the plain number for unit-less graphs.
std::string show_time(double seconds, bool unit_less);
std::string show_bytes(double bytes, bool unit_less);
std::string show_count(double value);

}  // namespace espalier
