#include "schedulers/static/peft_arabnejad2014.hpp"

#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/common/ranks.hpp"
#include "schedulers/common/ready_order.hpp"

namespace espalier {
namespace {

class Peft final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    const OptimisticCosts costs(instance);
    std::vector<double> rank(instance.tasks());
    for (TaskId t = 0; t < instance.tasks(); ++t) rank[t] = costs.rank(t);
    PartialSchedule partial(instance);
    in_ready_order(instance, rank, [&](TaskId t) { partial.place(t, choose(partial, costs, t)); });
    return partial.plan("peft_arabnejad2014");
  }

 private:
  /// Least finish plus optimistic cost, eq. (5); a worker that cannot run a later task may make that
  /// infinite, then the finish decides.
  static PartialSchedule::Slot choose(PartialSchedule& partial, const OptimisticCosts& costs, TaskId t) {
    const Instance& instance = partial.instance();
    partial.arrivals(t);
    PartialSchedule::Slot best;
    double least = Instance::infinity();
    for (WorkerId w = 0; w < instance.workers(); ++w) {
      const PartialSchedule::Slot slot = partial.earliest(t, w);
      const double value = slot.finish + costs.at(t, w);
      if (slot.finish < Instance::infinity() && (value < least || best.worker == kNoWorker)) {
        least = value;
        best = slot;
      }
    }
    return best;
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_peft_arabnejad2014() {
  return std::make_unique<Peft>();
}

}  // namespace espalier
