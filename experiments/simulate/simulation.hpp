#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/model/simulate.hpp"
#include "runtime/plan/plan_json.hpp"
#include "runtime/trace/trace.hpp"
#include "schedulers/common/bounds.hpp"

namespace espalier {

/// One scheduler on one graph and machine, on the model engine.
struct SimulationResult {
  std::string scheduler;
  Trace trace;
  double scheduler_seconds = 0;  ///< wall time of the static scheduler, or of the policy's calls
  std::optional<Plan> plan;      ///< of a static scheduler
  double engine_seconds = 0;     ///< wall time that the engine took for it, without planning
  std::string engine_version;    ///< "StarPU 1.3.10" on the engine simgrid, else empty
};

/// By the scheduler's name: a static one plans, then the plan is carried out; an online one decides on the
/// way. InputError for an unknown name.
SimulationResult simulate_scheduler(const SchedulingProblem& problem, const std::string& scheduler,
                                    const SimulationOptions& options = {});
SimulationResult simulate_plan(const SchedulingProblem& problem, const Plan& plan,
                               const SimulationOptions& options = {});

/// A part of the tasks' time and what its costs rest on.
struct CostShare {
  CostBasis basis;
  double share = 0;
};

/// What a trace says in numbers.
struct SimulationSummary {
  double makespan = 0;
  Bounds bounds;
  double gap = 0;         ///< makespan / best bound - 1; 0 when there is no bound
  double throughput = 0;  ///< samples a second; 0: no samples
  std::size_t transfers = 0;
  double transfer_bytes = 0;                   ///< units of edge weight for unit-less graphs
  std::vector<double> utilisation;             ///< by worker
  std::vector<std::int64_t> peak_memory;       ///< by memory
  std::map<std::string, double> cost_sources;  ///< share of the tasks' time by source
  std::vector<CostShare> cost_shares;          ///< the same by basis, greatest first
};
SimulationSummary summarise(const SchedulingProblem& problem, const Trace& trace, const Bounds& bounds);

/// What is needed to run it again.
struct Reproduction {
  std::string graph, platform, mode, costs;
  std::int64_t batch = 0, micro_batches = 1;
  std::uint64_t seed = 0;
  double time_limit = 0;
};

/// Half of a source's times are at most this far off: the mean of its bases' errors by their shares. NaN
/// where no error of any is known.
double expected_error(const SimulationSummary& summary, CostSource source);
/// "62.1 % of the time fitted (median error 9.2 %): conv_forward of NV_V100/fp32 (31.0 %), ...": a line for
/// each source.
std::vector<std::string> cost_lines(const SimulationSummary& summary);

/// The JSON text of `espalier simulate --json`.
std::string result_to_json(const SchedulingProblem& problem, const SimulationResult& result,
                           const SimulationSummary& summary, const Reproduction& how);
/// The same in words, for a terminal.
std::string result_to_text(const SchedulingProblem& problem, const SimulationResult& result,
                           const SimulationSummary& summary);

}  // namespace espalier
