#include "schedulers/static/local_search.hpp"

#include <algorithm>

#include "schedulers/common/annealing.hpp"
#include "schedulers/common/bounds.hpp"
#include "schedulers/common/deadline.hpp"
#include "schedulers/common/ranks.hpp"
#include "schedulers/static/exact/identical.hpp"
#include "schedulers/static/search_start.hpp"

namespace espalier {
namespace {

/// Share of the time limit that the planned number of steps should take, so that the limit does not cut.
constexpr double kPlannedShare = 0.4;

Plan improved_identical(const Instance& instance, const Identical& identical, const Plan& start,
                        double seconds_limit, std::string_view scheduler) {
  const std::uint64_t seed = instance.problem().seed;
  const Windows windows = windows_of(identical);
  const double work = 400.0 + identical.size() * (identical.workers + 60.0);
  const auto rounds =
      static_cast<std::int64_t>(std::clamp(seconds_limit * kPlannedShare * 2e8 / work, 10.0, 1e6));
  const IdenticalSchedule found = improve(identical, windows, seed, rounds, seconds_limit);
  Plan plan = to_plan(instance, identical, found, scheduler);
  if (start.makespan < plan.makespan) plan.placements = start.placements;
  plan.makespan = std::min(plan.makespan, start.makespan);
  plan.lower_bound = static_cast<double>(windows.bound) * identical.step;
  plan.proven_optimal = identical.step == 1 && plan.makespan <= plan.lower_bound * (1 + 1e-9);
  return plan;
}

class LocalSearch final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Deadline stop(problem.time_limit.value);
    const Instance instance(problem);
    const Plan start = best_list_plan(problem);
    const double bound = std::max(critical_path_bound(problem), area_bound(problem));
    return improved_plan(instance, start, bound, stop.left(), "local_search");
  }
};

}  // namespace

Plan improved_plan(const Instance& instance, const Plan& start, double bound, double seconds_limit,
                   std::string_view scheduler) {
  if (const auto identical = as_identical(instance))
    return improved_identical(instance, *identical, start, seconds_limit, scheduler);
  const Deadline stop(seconds_limit);
  Sequence sequence(instance);
  AnnealingOptions options;
  options.seed = instance.problem().seed;
  options.bound = bound;
  options.steps = steps_within(instance, seconds_limit * kPlannedShare / 2);
  AnnealingResult best{{}, start.makespan};
  for (const bool pinned : {true, false}) {
    options.seconds_limit = stop.left();
    if (best.makespan <= bound || options.seconds_limit <= 0) break;
    if (pinned)
      sequence.assign(start);
    else
      sequence.assign(upward_ranks(instance));
    AnnealingResult found = anneal(instance, sequence, options);
    if (found.makespan < best.makespan) best = std::move(found);
  }
  if (best.slots.empty()) {
    Plan plan = start;
    plan.scheduler = scheduler;
    return plan;
  }
  return make_plan(instance, best.slots, scheduler);
}

std::unique_ptr<StaticScheduler> make_local_search() {
  return std::make_unique<LocalSearch>();
}

}  // namespace espalier
