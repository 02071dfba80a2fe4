#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "experiments/run/local_problem.hpp"
#include "runtime/model/simulate.hpp"
#include "runtime/starpu/plan_driver.hpp"
#include "runtime/starpu/task_driver.hpp"

namespace espalier {

/// A scheduler of ours made ready for a real run.
struct RealScheduler {
  std::unique_ptr<starpu::TaskDriver> driver;
  std::optional<Plan> plan;      ///< of a static one, or of the file
  double predicted = 0;          ///< makespan on the model engine with the measured costs
  double scheduler_seconds = 0;  ///< that planning took
};

/// By RunRequest::plan_file, else by RunRequest::scheduler. InputError for an unknown name, hybrid hints
/// without a plan, a plan for another graph or platform, saying which part differs.
RealScheduler make_real_scheduler(const LocalProblem& local, const RunRequest& request);

/// "allocation", "order", "both", or empty: strict. InputError for anything else.
starpu::PlanMode plan_mode(std::string_view hybrid);

/// On the model engine what the PlanDriver of this mode does for real.
Trace simulate_as_run(const SchedulingProblem& problem, const Plan& plan, starpu::PlanMode mode,
                      const SimulationOptions& options = {});

/// The online scheduler that does on the model engine what StarPU's policy of this name does; empty: none.
std::string model_twin(std::string_view policy);

/// Reads a plan for `local`; where it does not fit and tells a batch, micro-batches or cores that differ, the
/// error names them.
Plan read_plan_for(const std::string& file, const LocalProblem& local);

}  // namespace espalier
