#include "schedulers/static/judge.hpp"

#include <algorithm>

#include "graphs/base/error.hpp"
#include "schedulers/common/instance.hpp"

namespace espalier {
namespace {

/// A run longer than its plan by more than this share met contention or full memories.
constexpr double kContention = 1e-3;
constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

Plan plan_of_trace(const SchedulingProblem& problem, const Trace& trace, std::string_view scheduler) {
  Plan plan;
  plan.scheduler = scheduler;
  plan.seed = problem.seed;
  plan.graph_fingerprint = problem.graph.fingerprint();
  plan.platform_fingerprint = problem.platform.fingerprint();
  plan.placements.resize(problem.graph.task_count());
  std::vector<TaskEvent> events = trace.tasks;
  std::stable_sort(events.begin(), events.end(), [](const TaskEvent& a, const TaskEvent& b) {
    return a.start != b.start ? a.start < b.start : a.end < b.end;
  });
  std::vector<std::uint32_t> next(problem.platform.workers.size(), 0);
  for (const TaskEvent& e : events) plan.placements[e.task] = {e.worker, next[e.worker]++, e.start, e.end};
  plan.makespan = std::max(trace.makespan, latest_finish(plan));
  return plan;
}

double Judge::consider(const Plan& plan) {
  SimulationOptions options;
  options.record_trace = false;
  try {
    const double makespan = simulate(problem_, plan, options).makespan;
    contended_ = contended_ || makespan > plan.makespan * (1 + kContention);
    if (makespan < makespan_) {
      makespan_ = makespan;
      best_ = plan;
    }
    return makespan;
  } catch (const InputError&) {
    return kNever;  // a memory too small for this order
  }
}

double Judge::consider(OnlinePolicy& policy, std::string_view name) {
  try {
    // a plan of a run does not always run as the policy did; its own run's plan may do better
    const Plan first = plan_of_trace(problem_, simulate(problem_, policy), name);
    const double makespan = consider(first);
    if (makespan <= first.makespan) return makespan;
    return std::min(makespan, consider(plan_of_trace(problem_, simulate(problem_, first), name)));
  } catch (const InputError&) {
    return kNever;
  }
}

}  // namespace espalier
