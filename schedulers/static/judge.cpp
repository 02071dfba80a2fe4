#include "schedulers/static/judge.hpp"

#include <algorithm>
#include <iterator>

#include "graphs/base/error.hpp"
#include "schedulers/common/instance.hpp"

namespace espalier {
namespace {

/// A run longer than its plan by more than this share met contention or full memories.
constexpr double kContention = 1e-3;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// The run's own movements, evictions apart: those are the engine's. A copy is of what the last writer that
/// had ended by then left.
void add_transfers(const SchedulingProblem& problem, const Trace& trace, Plan& plan) {
  const TaskGraph& graph = problem.graph;
  std::vector<std::vector<TaskId>> writers(graph.data_count());  // in the order of the graph and of time
  for (TaskId t = 0; t < graph.task_count(); ++t)
    for (const Access& a : graph.accesses(t))
      if (writes(a.mode)) writers[a.data].push_back(t);
  for (const TransferEvent& e : trace.transfers) {
    if (e.eviction) continue;
    const auto& before = writers[e.data];
    const auto later = std::partition_point(before.begin(), before.end(),
                                            [&](TaskId t) { return plan.placements[t].finish <= e.start; });
    plan.transfers.push_back(
        {e.data, later == before.begin() ? kNoTask : *std::prev(later), e.from, e.to, e.start});
  }
  std::stable_sort(plan.transfers.begin(), plan.transfers.end(),
                   [](const PlannedTransfer& a, const PlannedTransfer& b) { return a.start < b.start; });
}

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
  add_transfers(problem, trace, plan);
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
    Plan plan = plan_of_trace(problem_, simulate(problem_, policy), name);
    const double makespan = consider(plan);
    plan.transfers.clear();  // the engine's own movements, which know what comes, may do better
    return std::min(makespan, consider(plan));
  } catch (const InputError&) {
    return kNever;
  }
}

}  // namespace espalier
