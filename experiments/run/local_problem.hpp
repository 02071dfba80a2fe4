#pragma once

#include "experiments/calibrate/calibration.hpp"
#include "experiments/run/prepare_program.hpp"
#include "runtime/plan/plan.hpp"

namespace espalier {

/// A lowered network on this machine's cores with costs measured here: what schedulers see before a real run.
/// problem() refers to the other members.
struct LocalProblem {
  PreparedProgram prepared;
  Platform platform;
  CostTable costs;
  double run_overhead = 0;  ///< see MeasuredCosts
  double deviation = 0;
  std::uint64_t seed = 0;
  Seconds time_limit{1};
  CalibrationResult calibration;  ///< runs = 0: everything was in the cache and not checked
  SchedulingProblem problem() const { return {prepared.program->tasks, platform, costs, seed, time_limit}; }
};

/// Platform and costs for a program from measured times; `calibration` stays empty.
LocalProblem assemble_local_problem(const PreparedProgram& prepared, const MeasuredCosts& costs,
                                    const RunRequest& request);

/// The cores of the local platform that a run uses, all in main memory.
Platform run_platform(unsigned workers, double task_overhead);

/// Fills platform and costs. Times that the cache lacks, or that are off by more than 2 % of the whole now,
/// are measured with the session, which has no driver and whose inputs are set; nullopt after an
/// interruption.
std::optional<LocalProblem> make_local_problem(const PreparedProgram& prepared,
                                               starpu::NetworkSession& session, const RunRequest& request);

/// The same before there is a session: starts StarPU only when something has to be measured. DeviceError when
/// interrupted.
LocalProblem load_local_problem(const Graph& network, const LayerTable& layers, const RunRequest& request);

/// Calibrated costs for StarPU's policies that rest on its performance models (dm, dmda, ...), which then
/// need no calibration of their own. Does nothing for other policies, and where there are none.
void give_costs_to_starpu(const PreparedProgram& prepared, starpu::Machine& machine,
                          const RunRequest& request);

/// Draws or takes the request's inputs.
void give_inputs(starpu::NetworkSession& session, const RunRequest& request);

}  // namespace espalier
