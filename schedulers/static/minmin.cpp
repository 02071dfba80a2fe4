#include "schedulers/static/minmin.hpp"

#include "schedulers/common/lazy_order.hpp"

namespace espalier {
namespace {

class MinMin final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    ReadyPool pool(instance, ReadyPool::Aim::finish);
    place_by_least_key(pool, std::vector<double>(instance.tasks(), 0),
                       [](const auto& slot) { return slot.finish; });
    return pool.plan("minmin");
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_minmin() {
  return std::make_unique<MinMin>();
}

}  // namespace espalier
