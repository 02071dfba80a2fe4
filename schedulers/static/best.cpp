#include "schedulers/static/best.hpp"

#include <algorithm>
#include <cmath>

#include "graphs/base/error.hpp"
#include "schedulers/common/bounds.hpp"
#include "schedulers/common/deadline.hpp"
#include "schedulers/common/instance.hpp"
#include "schedulers/scheduler_list.hpp"
#include "schedulers/static/engine_search.hpp"
#include "schedulers/static/grouped.hpp"
#include "schedulers/static/guided_search.hpp"
#include "schedulers/static/judge.hpp"
#include "schedulers/static/search_start.hpp"

namespace espalier {
namespace {

constexpr std::string_view kName = "best";
/// Share of the time limit after which nothing is begun; the rest is for judging and for clocks.
constexpr double kSearchShare = 0.9;
/// Share of the limit that single tasks are moved for where contention decides, even when the members have
/// used the limit up.
constexpr double kLeastShare = 0.2;
/// Of one step of the quadratic members, about.
constexpr double kSecondsOfAStep = 5e-8;
/// Members that search until a time limit; they run after the others, in what time is left. Branch and bound
/// goes first where it is likely to end soon.
constexpr std::string_view kSearchers[] = {"local_search", "exact", "guided_search"};
constexpr std::size_t kSmall = 24;

bool is_searcher(std::string_view name) {
  return std::find(std::begin(kSearchers), std::end(kSearchers), name) != std::end(kSearchers);
}

/// Members that take p^2 a task or look at all ready tasks, where one of them alone would exceed the limit.
bool too_slow(std::string_view name, const SchedulingProblem& problem) {
  if (name != "lookahead_heft_bittencourt2010" && name != "maxmin") return false;
  const auto n = static_cast<double>(problem.graph.task_count());
  const auto p = static_cast<double>(problem.platform.workers.size());
  const double seconds = kSecondsOfAStep * n * p * (name == "maxmin" ? std::sqrt(n) : p);
  return seconds > problem.time_limit.value;
}

class Best final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Deadline stop(problem.time_limit.value * kSearchShare);
    double bound = std::max({critical_path_bound(problem), area_bound(problem), interval_bound(problem)});
    Judge judge(problem);
    const auto met = [&] { return judge.makespan() <= bound * (1 + 1e-9); };
    for (const SchedulerEntry& entry : all_schedulers()) {
      if (met()) break;
      if (entry.name == kName || is_searcher(entry.name) || too_slow(entry.name, problem)) continue;
      run(entry, problem, judge);
    }
    if (!met()) consider_grouped(problem, judge);
    bool proven = met();
    const bool model_bounds_hold = Instance(problem).direct_is_fastest();
    if (!met()) {
      // as the member by itself does, whatever is left of the limit
      const double limit = problem.time_limit.value;
      search_guides(problem, judge, bound, guide_steps_within(problem, limit), limit);
    }
    if (!met() && judge.contended()) {
      const double seconds = std::max(stop.left(), kLeastShare * problem.time_limit.value);
      const double seconds_of_a_run = 1.5e-6 * static_cast<double>(problem.graph.task_count() + 50);
      const auto steps = static_cast<std::int64_t>(seconds / seconds_of_a_run);
      search_on_engine(problem, judge, bound, std::max<std::int64_t>(steps, 1), seconds);
    }
    std::vector<std::string_view> searchers{"local_search", "exact"};
    if (problem.graph.task_count() <= kSmall) std::reverse(searchers.begin(), searchers.end());
    for (const std::string_view name : searchers) {
      if (met() || stop.left() <= 0) break;
      const double share = name == searchers[0] ? stop.left() / 2 : stop.left();
      const SchedulingProblem rest{problem.graph, problem.platform, problem.costs, problem.seed,
                                   Seconds(share)};
      const Plan plan = scheduler_named(name).make_static()->schedule(rest);
      if (model_bounds_hold) bound = std::max(bound, plan.lower_bound);
      judge.consider(plan);
      proven = met();
    }
    Plan plan = judge.best();
    if (!judge.has_plan())
      throw InputError("no scheduler's plan can be carried out on platform " + problem.platform.name +
                       ": its memories are too small for the graph");
    plan.scheduler = kName;
    plan.lower_bound = bound;
    plan.proven_optimal = proven;
    return plan;
  }

 private:
  static void run(const SchedulerEntry& entry, const SchedulingProblem& problem, Judge& judge) {
    if (entry.make_static != nullptr)
      judge.consider(entry.make_static()->schedule(problem));
    else if (entry.make_online != nullptr)
      judge.consider(*entry.make_online(), entry.name);
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_best() {
  return std::make_unique<Best>();
}

}  // namespace espalier
