#include "schedulers/static/dual_hp.hpp"

#include <algorithm>

#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/common/ranks.hpp"
#include "schedulers/common/ready_order.hpp"

namespace espalier {
namespace {

constexpr int kBisections = 30;

/// Kinds of all tasks for a guess of the makespan.
class Allocation {
 public:
  explicit Allocation(const Instance& instance) : instance_(instance), workers_(instance.kinds(), 0) {
    for (WorkerId w = 0; w < instance.workers(); ++w) workers_[instance.kind_of(w)] += 1;
    std::vector<double> regret(instance.tasks());
    for (TaskId t = 0; t < instance.tasks(); ++t) regret[t] = slowdown(t);
    order_ = by_falling(regret);
    for (TaskId t = 0; t < instance.tasks(); ++t) total_ += instance.least_seconds(t);
  }

  /// By bisection, the kinds for the least guess that fits.
  std::vector<KindId> solve() {
    std::vector<KindId> kind(instance_.tasks(), 0), trial(instance_.tasks(), 0);
    double low = total_ / static_cast<double>(instance_.workers()), high = total_;
    if (!fits(high, kind)) return kind;
    if (fits(low, trial)) return trial;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = (low + high) / 2;
      if (fits(middle, trial)) {
        high = middle;
        kind = trial;
      } else {
        low = middle;
      }
    }
    return kind;
  }

 private:
  /// Second least time over the least: how much the task loses off its best kind.
  double slowdown(TaskId t) const {
    double first = Instance::infinity(), second = Instance::infinity();
    for (KindId k = 0; k < instance_.kinds(); ++k) {
      if (workers_[k] == 0) continue;
      const double time = instance_.seconds_of_kind(t, k);
      second = std::min(second, std::max(first, time));
      first = std::min(first, time);
    }
    return first > 0 ? second / first : Instance::infinity();
  }

  bool fits(double guess, std::vector<KindId>& kind) const {
    std::vector<double> load(workers_.size(), 0);
    for (const TaskId t : order_) {
      double least = Instance::infinity();
      for (KindId k = 0; k < workers_.size(); ++k) {
        const double time = instance_.seconds_of_kind(t, k);
        if (workers_[k] == 0 || time > guess || load[k] + time > guess * workers_[k]) continue;
        if (time < least) {
          least = time;
          kind[t] = k;
        }
      }
      if (least == Instance::infinity()) return false;
      load[kind[t]] += least;
    }
    return true;
  }

  const Instance& instance_;
  std::vector<double> workers_;
  std::vector<TaskId> order_;
  double total_ = 0;
};

/// Upward rank with each task on its own kind.
std::vector<double> ranks_on(const Instance& instance, const std::vector<KindId>& kind) {
  std::vector<double> rank(instance.tasks(), 0);
  for (auto t = static_cast<TaskId>(instance.tasks()); t-- > 0;) {
    for (const auto& [s, bytes] : instance.outputs(t))
      rank[t] = std::max(rank[t], rank[s] + (kind[s] == kind[t] ? 0 : instance.mean_remote_transfer(bytes)));
    const double time = instance.seconds_of_kind(t, kind[t]);
    rank[t] += time == Instance::infinity() ? instance.mean_seconds(t) : time;
  }
  return rank;
}

class DualHp final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    const std::vector<KindId> kind = Allocation(instance).solve();
    PartialSchedule partial(instance);
    in_ready_order(instance, ranks_on(instance, kind), [&](TaskId t) {
      partial.arrivals(t);
      PartialSchedule::Slot best;
      for (WorkerId w = 0; w < instance.workers(); ++w) {
        if (instance.kind_of(w) != kind[t]) continue;
        const PartialSchedule::Slot slot = partial.earliest(t, w);
        if (slot.finish < best.finish) best = slot;
      }
      // its kind has no memory large enough: anywhere
      partial.place(t, best.worker == kNoWorker ? partial.earliest_finish(t) : best);
    });
    return partial.plan("dual_hp");
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_dual_hp() {
  return std::make_unique<DualHp>();
}

}  // namespace espalier
