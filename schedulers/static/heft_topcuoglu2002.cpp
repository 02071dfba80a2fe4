#include "schedulers/static/heft_topcuoglu2002.hpp"

#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/common/ranks.hpp"
#include "schedulers/common/ready_order.hpp"

namespace espalier {
namespace {

class Heft final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    PartialSchedule partial(instance);
    // ranks never grow along an edge; among equal ones (tasks without cost) precedence decides
    in_ready_order(instance, upward_ranks(instance),
                   [&](TaskId t) { partial.place(t, partial.earliest_finish(t)); });
    return partial.plan("heft_topcuoglu2002");
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_heft_topcuoglu2002() {
  return std::make_unique<Heft>();
}

}  // namespace espalier
