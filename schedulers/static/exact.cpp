#include "schedulers/static/exact.hpp"

#include <algorithm>
#include <cmath>

#include "schedulers/common/bounds.hpp"
#include "schedulers/common/deadline.hpp"
#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/static/exact/identical.hpp"
#include "schedulers/static/exact/search_problem.hpp"
#include "schedulers/static/search_start.hpp"

namespace espalier {
namespace {

constexpr int kMostWorkers = 16;
/// Time for the first upper bound: a share of the limit, less for few tasks, which the search itself settles.
constexpr double kStartShare = 0.3, kStartSecondsPerTask = 0.002;

/// Appends the tasks in order to their workers; times in seconds.
Plan replay(const Instance& instance, const SearchResult& found) {
  PartialSchedule partial(instance);
  for (const int t : found.order) {
    const auto task = static_cast<TaskId>(t);
    const auto worker = static_cast<WorkerId>(found.worker[t]);
    const double ready = partial.arrivals(task)[instance.memory_of(worker)];
    const double start = std::max(ready, partial.end_of(worker));
    partial.place(task, {worker, start, start + instance.seconds(task, worker)});
  }
  return partial.plan("exact");
}

/// What the bounds of identical workers know, by task of the search problem.
void use_windows(SearchProblem& search, const Identical& identical) {
  const Windows windows = windows_of(identical);
  std::vector<SearchProblem::Steps> head(search.tasks, 0), tail(search.tasks, 0);
  for (int i = 0; i < identical.size(); ++i) {
    head[identical.original[i]] = windows.head[i];
    tail[identical.original[i]] = windows.tail[i];
  }
  search.strengthen(head, tail, windows.bound);
}

class Exact final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Deadline stop(problem.time_limit.value);
    const Instance instance(problem);
    const double bound = lower_bounds(problem).best();
    const double limit = problem.time_limit.value;
    const double start_seconds =
        std::min(limit * kStartShare, kStartSecondsPerTask * static_cast<double>(instance.tasks()));
    Plan plan = improved_plan(instance, best_list_plan(problem), bound, start_seconds, "exact");
    plan.lower_bound = std::max(plan.lower_bound, bound);
    plan.proven_optimal = plan.proven_optimal || plan.makespan <= plan.lower_bound * (1 + 1e-9);
    if (plan.proven_optimal || instance.tasks() > SearchProblem::kMostTasks ||
        instance.workers() > kMostWorkers)
      return plan;
    SearchProblem search(instance);
    if (const auto identical = as_identical(instance)) use_windows(search, *identical);
    SearchLimits limits;
    limits.seconds = stop.left();
    const SearchResult found = branch_and_bound(search, steps_of(plan, search), limits);
    const Plan start = plan;
    if (found.makespan < SearchProblem::kNever) plan = replay(instance, found);
    if (plan.makespan > start.makespan) plan = start;
    plan.proven_optimal = found.complete;
    plan.lower_bound = found.complete
                           ? plan.makespan
                           : std::max(start.lower_bound, static_cast<double>(search.bound) * search.step);
    return plan;
  }

 private:
  static SearchProblem::Steps steps_of(const Plan& plan, const SearchProblem& search) {
    return std::llround(plan.makespan / search.step);
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_exact() {
  return std::make_unique<Exact>();
}

}  // namespace espalier
