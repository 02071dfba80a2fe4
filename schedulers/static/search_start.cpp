#include "schedulers/static/search_start.hpp"

#include "schedulers/static/cpop_topcuoglu2002.hpp"
#include "schedulers/static/dual_hp.hpp"
#include "schedulers/static/etf_hwang1989.hpp"
#include "schedulers/static/heft_topcuoglu2002.hpp"
#include "schedulers/static/lookahead_heft_bittencourt2010.hpp"
#include "schedulers/static/maxmin.hpp"
#include "schedulers/static/minmin.hpp"
#include "schedulers/static/peft_arabnejad2014.hpp"

namespace espalier {
namespace {

/// Tasks x workers up to which schedulers that look at all ready tasks or all successors are quick.
constexpr std::size_t kQuadraticLimit = 100000;

}  // namespace

Plan best_list_plan(const SchedulingProblem& problem) {
  Plan best = make_heft_topcuoglu2002()->schedule(problem);
  const auto consider = [&](std::unique_ptr<StaticScheduler> scheduler) {
    Plan plan = scheduler->schedule(problem);
    if (plan.makespan < best.makespan) best = std::move(plan);
  };
  consider(make_peft_arabnejad2014());
  consider(make_cpop_topcuoglu2002());
  consider(make_dual_hp());
  consider(make_minmin());
  consider(make_etf_hwang1989());
  if (problem.graph.task_count() * problem.platform.workers.size() > kQuadraticLimit) return best;
  consider(make_maxmin());
  consider(make_lookahead_heft_bittencourt2010());
  return best;
}

}  // namespace espalier
