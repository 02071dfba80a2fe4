#include "schedulers/hybrid/hybrid.hpp"

#include "schedulers/greedy/deque_model.hpp"
#include "schedulers/static/heft_topcuoglu2002.hpp"

namespace espalier {
namespace {

class Hybrid final : public DequeModel {
 public:
  using PlanOf = std::function<Plan(const SchedulingProblem&)>;
  Hybrid(PlanOf plan_of, bool allocation, bool order)
      : DequeModel({.data_aware = true, .sorted = true}),
        plan_of_(std::move(plan_of)),
        allocation_(allocation),
        order_(order) {}

  void begin(const SchedulingProblem& problem, RuntimeView& view) override {
    const Plan plan = plan_of_(problem);
    places_.clear();
    priorities_.clear();
    for (const Placement& p : plan.placements) {
      const Worker& w = problem.platform.workers[p.worker];
      if (allocation_) places_.push_back({w.kind, w.memory});
      if (order_) priorities_.push_back(-p.start);
    }
    DequeModel::begin(problem, view);
  }

 private:
  PlanOf plan_of_;
  bool allocation_, order_;
};

}  // namespace

std::unique_ptr<OnlinePolicy> make_hybrid(MakeStatic planner, bool allocation, bool order) {
  return std::make_unique<Hybrid>(
      [planner = std::move(planner)](const SchedulingProblem& problem) {
        return planner()->schedule(problem);
      },
      allocation, order);
}

std::unique_ptr<OnlinePolicy> make_hybrid(Plan plan, bool allocation, bool order) {
  return std::make_unique<Hybrid>([plan = std::move(plan)](const SchedulingProblem&) { return plan; },
                                  allocation, order);
}

std::unique_ptr<OnlinePolicy> make_hybrid_allocation() {
  return make_hybrid(make_heft_topcuoglu2002, true, false);
}

std::unique_ptr<OnlinePolicy> make_hybrid_order() {
  return make_hybrid(make_heft_topcuoglu2002, false, true);
}

std::unique_ptr<OnlinePolicy> make_hybrid_both() {
  return make_hybrid(make_heft_topcuoglu2002, true, true);
}

}  // namespace espalier
