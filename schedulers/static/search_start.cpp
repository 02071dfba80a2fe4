#include "schedulers/static/search_start.hpp"

#include "schedulers/static/cpop_topcuoglu2002.hpp"
#include "schedulers/static/heft_topcuoglu2002.hpp"
#include "schedulers/static/peft_arabnejad2014.hpp"

namespace espalier {

Plan best_list_plan(const SchedulingProblem& problem) {
  Plan best = make_heft_topcuoglu2002()->schedule(problem);
  for (const auto make : {make_peft_arabnejad2014, make_cpop_topcuoglu2002}) {
    Plan plan = make()->schedule(problem);
    if (plan.makespan < best.makespan) best = std::move(plan);
  }
  return best;
}

}  // namespace espalier
