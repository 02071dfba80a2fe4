#include "schedulers/static/maxmin.hpp"

#include "schedulers/common/ready_pool.hpp"

namespace espalier {
namespace {

class MaxMin final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    ReadyPool pool(instance, ReadyPool::Aim::finish);
    std::vector<TaskId> fresh;
    while (!pool.ready().empty()) {
      TaskId chosen = kNoTask;
      PartialSchedule::Slot slot;
      for (const TaskId t : pool.ready()) {
        const PartialSchedule::Slot best = pool.best(t);
        if (chosen == kNoTask || best.finish > slot.finish || (best.finish == slot.finish && t < chosen)) {
          chosen = t;
          slot = best;
        }
      }
      pool.place(chosen, slot, fresh);
    }
    return pool.plan("maxmin");
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_maxmin() {
  return std::make_unique<MaxMin>();
}

}  // namespace espalier
