#include "experiments/run/contender.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>

#include "experiments/run/prediction.hpp"
#include "experiments/simulate/engines.hpp"
#include "graphs/base/error.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

/// Tasks in the graph's order, each on the worker that `choose` names.
template <class Choose>
Plan in_graph_order(const std::string& name, const LocalProblem& local, Choose&& choose) {
  const SchedulingProblem problem = local.problem();
  Plan plan;
  plan.scheduler = name;
  std::vector<std::uint32_t> next(problem.platform.workers.size(), 0);
  std::vector<double> free(next.size(), 0);
  for (TaskId t = 0; t < problem.graph.task_count(); ++t) {
    const WorkerId w = choose();
    double start = free[w];
    for (const TaskId p : problem.graph.predecessors(t)) start = std::max(start, plan.placements[p].finish);
    const double end = start + problem.costs.seconds(problem.graph.task(t).cost_class, 0);
    plan.placements.push_back({w, next[w]++, start, end});
    free[w] = end;
  }
  return plan;
}

std::optional<Plan> poor_plan(const std::string& name, const LocalProblem& local) {
  if (name == "one_worker") return in_graph_order(name, local, [] { return WorkerId{0}; });
  if (name != "random_plan") return std::nullopt;
  std::mt19937_64 random(local.seed);
  const std::size_t workers = local.platform.workers.size();
  return in_graph_order(name, local, [&] { return static_cast<WorkerId>(random() % workers); });
}

Contender with_plan(Contender c, const LocalProblem& local) {
  const void* program = local.prepared.program.get();
  c.driver = starpu::make_plan_driver(program, local.prepared.program->tasks, *c.plan, plan_mode(c.hybrid),
                                      local.prepared.workers);
  return c;
}

Contender starpu_contender(const std::string& name) {
  Contender c;
  c.name = name;
  c.starpu_policy = starpu_policy_of(name);
  const auto known = starpu::available_policies();
  if (std::find(known.begin(), known.end(), c.starpu_policy) == known.end())
    throw InputError(
        fmt::format("scheduler {}: StarPU's policies here are {}", name, fmt::join(known, ", ")));
  c.online = model_twin(c.starpu_policy);
  return c;
}

}  // namespace

Contender make_contender(const std::string& name, const LocalProblem& local, const RunRequest& request) {
  if (is_starpu_policy(name)) return starpu_contender(name);
  Contender c;
  c.name = name;
  c.plan = poor_plan(name, local);
  if (c.plan) return with_plan(std::move(c), local);
  const SchedulerName parts = scheduler_name(name);
  RunRequest one = request;
  one.scheduler = parts.scheduler;
  one.hybrid = c.hybrid = parts.hybrid;
  one.plan_file.clear();
  RealScheduler real = make_real_scheduler(local, one);
  c.plan = std::move(real.plan);
  if (!c.plan) c.online = one.scheduler;
  c.scheduler_seconds = real.scheduler_seconds;
  c.driver = std::move(real.driver);
  return c;
}

std::optional<Trace> simulate_contender(const Contender& c, const std::string& engine,
                                        const SchedulingProblem& problem, const EngineOptions& options) {
  if (engine == "simgrid") {
    simgrid::SimulateOptions how;
    how.stop = options.stop;
    if (c.plan) return simulate_in_starpu(problem, *c.plan, c.hybrid, how).trace;
    return simulate_in_starpu(problem, c.starpu_policy.empty() ? c.online : c.name, how).trace;
  }
  if (c.plan) return simulate_as_run(problem, *c.plan, plan_mode(c.hybrid), options.model);
  if (c.online.empty()) return std::nullopt;
  return simulate_scheduler(problem, c.online, options.model).trace;
}

double predict_contender(const Contender& c, const LocalProblem& local) {
  if (!c.plan && c.online.empty()) return 0;
  return predicted_makespan(local, [&](const SchedulingProblem& p, const SimulationOptions& o) {
    return *simulate_contender(c, "model", p, {.model = o, .hybrid = {}, .stop = {}});
  });
}

}  // namespace espalier
