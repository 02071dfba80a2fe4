#include "experiments/simulate/engines.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "runtime/simgrid/simulate.hpp"
#include "schedulers/common/ranks.hpp"
#include "schedulers/hybrid/plan_hints.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

using simgrid::Decision;

constexpr std::string_view kStarpu = "starpu:";
constexpr double kGreatestPriority = 1e9;

void require_hybrid(const std::string& hybrid) {
  if (!hybrid.empty() && hybrid != "allocation" && hybrid != "order" && hybrid != "both")
    throw InputError(fmt::format("--hybrid {}: accepted are allocation, order and both", hybrid));
}

/// The graph with upward ranks as priorities where all of its own are equal.
TaskGraph with_priorities(const SchedulingProblem& problem) {
  TaskGraph graph = problem.graph;
  const std::size_t n = graph.task_count();
  for (TaskId t = 1; t < n; ++t)
    if (graph.task(t).priority != graph.task(0).priority) return graph;
  const std::vector<double> ranks = upward_ranks(Instance(problem));
  const double most = n == 0 ? 0 : *std::max_element(ranks.begin(), ranks.end());
  if (most > 0)
    for (TaskId t = 0; t < n; ++t)
      graph.set_priority(t, static_cast<std::int32_t>(ranks[t] / most * kGreatestPriority));
  return graph;
}

/// Tasks on a longest path, each on its fastest worker.
std::vector<TaskId> critical_tasks(const SchedulingProblem& problem) {
  const Instance instance(problem);
  const std::vector<double> start = earliest_starts(instance), level = static_levels(instance);
  double longest = 0;
  for (TaskId t = 0; t < start.size(); ++t) longest = std::max(longest, start[t] + level[t]);
  std::vector<TaskId> out;
  for (TaskId t = 0; t < start.size(); ++t)
    if (start[t] + level[t] >= longest * (1 - 1e-9)) out.push_back(t);
  return out;
}

simgrid::SimulateOptions starpu_options(const LoadedProblem& loaded, const EngineOptions& how) {
  simgrid::SimulateOptions options;
  options.bus = loaded.bus ? &*loaded.bus : nullptr;
  options.stop = how.stop;
  return options;
}

SimulationResult run_on_simgrid(const SchedulingProblem& problem, const Decision& decision,
                                const simgrid::SimulateOptions& options) {
  simgrid::Simulated simulated = simgrid::simulate(problem, decision, options);
  SimulationResult result;
  result.trace = std::move(simulated.trace);
  result.engine_version = "StarPU " + simulated.starpu_version;
  return result;
}

SimulationResult run_starpu_policy(const SchedulingProblem& given, const std::string& policy,
                                   const simgrid::SimulateOptions& options) {
  const TaskGraph graph = with_priorities(given);
  const SchedulingProblem problem{graph, given.platform, given.costs, given.seed, given.time_limit};
  Decision decision;
  decision.kind = Decision::Kind::starpu;
  decision.name = policy;
  decision.critical = critical_tasks(problem);
  return run_on_simgrid(problem, decision, options);
}

SimulationResult run_hints_on_model(const SchedulingProblem& problem, const Plan& plan,
                                    const EngineOptions& options) {
  const auto hints =
      make_plan_hints(plan, options.hybrid != "order", options.hybrid != "allocation", problem.platform);
  SimulationResult result;
  result.trace = simulate(problem, *hints, options.model);
  return result;
}

/// With the wall time that the call takes.
template <class Simulate>
SimulationResult timed(Simulate&& simulate) {
  const auto start = std::chrono::steady_clock::now();
  SimulationResult result = simulate();
  result.engine_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

Plan make_plan(const SchedulingProblem& problem, const SchedulerEntry& entry, double& seconds) {
  const auto start = std::chrono::steady_clock::now();
  Plan plan = entry.make_static()->schedule(problem);
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  plan.graph_fingerprint = problem.graph.fingerprint();
  plan.platform_fingerprint = problem.platform.fingerprint();
  plan.seed = problem.seed;
  if (plan.scheduler.empty()) plan.scheduler = entry.name;
  return plan;
}

void set_names(SimulationResult& result, const std::string& scheduler) {
  result.scheduler = scheduler;
  result.trace.scheduler = scheduler;
  result.trace.scheduler_seconds = result.scheduler_seconds;
}

}  // namespace

std::vector<std::string> simulating_engines() {
  return {"model", "simgrid"};
}

void require_simulating_engine(const std::string& engine) {
  const auto names = simulating_engines();
  if (std::find(names.begin(), names.end(), engine) == names.end())
    throw InputError(
        fmt::format("engine {} does not simulate; accepted are {}", engine, fmt::join(names, ", ")));
}

bool is_starpu_policy(const std::string& scheduler) {
  return scheduler.starts_with(kStarpu);
}

std::string starpu_policy_of(const std::string& scheduler) {
  return is_starpu_policy(scheduler) ? scheduler.substr(kStarpu.size()) : std::string();
}

SchedulerName scheduler_name(const std::string& text) {
  const std::size_t slash = text.find('/');
  SchedulerName name{text.substr(0, slash), {}};
  if (slash == std::string::npos) return name;
  name.hybrid = text.substr(slash + 1);
  if (name.hybrid != "allocation" && name.hybrid != "order" && name.hybrid != "both")
    throw InputError(
        fmt::format("scheduler {}: behind the slash accepted are allocation, order and both", text));
  if (is_starpu_policy(name.scheduler) || scheduler_named(name.scheduler).make_static == nullptr)
    throw InputError(
        fmt::format("scheduler {}: {} decides while the run goes on and makes no plan that could be hints",
                    text, name.scheduler));
  return name;
}

SimulationResult simulate_in_starpu(const SchedulingProblem& problem, const std::string& policy,
                                    const simgrid::SimulateOptions& options) {
  if (is_starpu_policy(policy)) return run_starpu_policy(problem, starpu_policy_of(policy), options);
  return run_on_simgrid(problem, {Decision::Kind::online, policy, "strict", {}, {}}, options);
}

SimulationResult simulate_in_starpu(const SchedulingProblem& problem, const Plan& plan,
                                    const std::string& hybrid, const simgrid::SimulateOptions& options) {
  return run_on_simgrid(
      problem,
      {Decision::Kind::plan, plan.scheduler, hybrid.empty() ? "strict" : hybrid, plan.placements, {}},
      options);
}

SimulationResult run_plan(const std::string& engine, const LoadedProblem& loaded, const Plan& plan,
                          const EngineOptions& options) {
  require_simulating_engine(engine);
  require_hybrid(options.hybrid);
  const SchedulingProblem problem = loaded.problem();
  SimulationResult result;
  if (engine == "simgrid") {
    result = timed(
        [&] { return simulate_in_starpu(problem, plan, options.hybrid, starpu_options(loaded, options)); });
  } else if (options.hybrid.empty()) {
    result = timed([&] { return simulate_plan(problem, plan, options.model); });
  } else {
    result = timed([&] { return run_hints_on_model(problem, plan, options); });
  }
  set_names(result, plan.scheduler);
  return result;
}

SimulationResult run_scheduler(const std::string& engine, const LoadedProblem& loaded,
                               const std::string& scheduler, const EngineOptions& options) {
  require_simulating_engine(engine);
  require_hybrid(options.hybrid);
  SimulationResult result;
  if (is_starpu_policy(scheduler)) {
    if (engine != "simgrid")
      throw InputError(
          fmt::format("{}: StarPU's own policies run in StarPU: --engine simgrid (the model engine has "
                      "eager, lws, dm, dmda, "
                      "dmdas and heteroprio of Espalier's own)",
                      scheduler));
    if (!options.hybrid.empty())
      throw InputError(fmt::format("--hybrid {}: {} makes no plan", options.hybrid, scheduler));
    result = timed(
        [&] { return simulate_in_starpu(loaded.problem(), scheduler, starpu_options(loaded, options)); });
  } else {
    const SchedulerEntry& entry = scheduler_named(scheduler);
    const SchedulingProblem problem = loaded.problem();
    if (entry.make_static != nullptr) {
      double seconds = 0;
      Plan plan = make_plan(problem, entry, seconds);
      result = run_plan(engine, loaded, plan, options);
      result.scheduler_seconds = seconds;
      result.plan = std::move(plan);
    } else if (!options.hybrid.empty()) {
      throw InputError(fmt::format("--hybrid {}: {} decides while the run goes on and makes no plan",
                                   options.hybrid, scheduler));
    } else if (engine == "simgrid") {
      result = timed([&] { return simulate_in_starpu(problem, scheduler, starpu_options(loaded, options)); });
    } else {
      result = timed([&] { return simulate_scheduler(problem, scheduler, options.model); });
    }
  }
  set_names(result, scheduler);
  return result;
}

}  // namespace espalier
