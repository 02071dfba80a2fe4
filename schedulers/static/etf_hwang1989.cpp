#include "schedulers/static/etf_hwang1989.hpp"

#include "schedulers/common/lazy_order.hpp"
#include "schedulers/common/ranks.hpp"

namespace espalier {
namespace {

class Etf final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    ReadyPool pool(instance, ReadyPool::Aim::start);
    std::vector<double> tie = static_levels(instance);
    for (double& level : tie) level = -level;
    place_by_least_key(pool, tie, [](const auto& slot) { return slot.start; });
    return pool.plan("etf_hwang1989");
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_etf_hwang1989() {
  return std::make_unique<Etf>();
}

}  // namespace espalier
