#include "experiments/run/real_scheduler.hpp"

#include <fmt/format.h>

#include "experiments/run/prediction.hpp"
#include "experiments/simulate/simulation.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/starpu/online_driver.hpp"
#include "runtime/starpu/plan_driver.hpp"
#include "schedulers/hybrid/plan_hints.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {

using starpu::PlanMode;

std::string model_twin(std::string_view policy) {
  for (const SchedulerEntry& entry : all_schedulers())
    if (entry.name == policy && entry.make_online != nullptr) return std::string(policy);
  return {};
}

starpu::PlanMode plan_mode(std::string_view hybrid) {
  if (hybrid.empty()) return PlanMode::strict;
  if (hybrid == "allocation") return PlanMode::allocation;
  if (hybrid == "order") return PlanMode::order;
  if (hybrid == "both") return PlanMode::both;
  throw InputError(fmt::format("--hybrid {}: accepted are allocation, order and both", hybrid));
}

Trace simulate_as_run(const SchedulingProblem& problem, const Plan& plan, PlanMode mode,
                      const SimulationOptions& options) {
  if (mode == PlanMode::strict) return simulate(problem, plan, options);
  const auto hints =
      make_plan_hints(plan, mode != PlanMode::order, mode != PlanMode::allocation, problem.platform);
  return simulate(problem, *hints, options);
}

Plan read_plan_for(const std::string& file, const LocalProblem& local) {
  const PlanFile read = plan_from_json(read_file(file), file);
  try {
    require_target(read, local.prepared.program->tasks, local.platform, file);
  } catch (const InputError& e) {
    throw InputError(fmt::format(
        "{}; here it is batch {} in micro-batches of {} on {} workers: the plan has to be made with the same "
        "graph, --batch, --micro-batch, --cores, --task-ms and --dim",
        e.what(), local.prepared.batch, local.prepared.micro_batch, local.prepared.workers));
  }
  return read.plan;
}

RealScheduler make_real_scheduler(const LocalProblem& local, const RunRequest& request) {
  const SchedulingProblem problem = local.problem();
  const void* program = local.prepared.program.get();
  const PlanMode mode = plan_mode(request.hybrid);
  RealScheduler real;
  if (!request.plan_file.empty()) {
    real.plan = read_plan_for(request.plan_file, local);
  } else {
    const SchedulerEntry& entry = scheduler_named(request.scheduler);
    if (entry.make_static == nullptr) {
      if (mode != PlanMode::strict)
        throw InputError(fmt::format("--hybrid {}: {} decides while the run goes on and makes no plan",
                                     request.hybrid, request.scheduler));
      real.predicted = predicted_makespan(local, [&](const SchedulingProblem& p, const SimulationOptions& o) {
        return simulate_scheduler(p, request.scheduler, o).trace;
      });
      real.driver = starpu::make_online_driver(program, problem, entry.make_online(), request.scheduler);
      return real;
    }
    SimulationResult result = simulate_scheduler(problem, request.scheduler);
    validate(*result.plan, problem);
    real.plan = std::move(result.plan);
    real.scheduler_seconds = result.scheduler_seconds;
  }
  real.predicted = predicted_makespan(local, [&](const SchedulingProblem& p, const SimulationOptions& o) {
    return simulate_as_run(p, *real.plan, mode, o);
  });
  real.driver = starpu::make_plan_driver(program, problem.graph, *real.plan, mode, local.prepared.workers);
  return real;
}

}  // namespace espalier
