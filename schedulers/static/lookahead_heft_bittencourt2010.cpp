#include "schedulers/static/lookahead_heft_bittencourt2010.hpp"

#include <algorithm>

#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/common/ranks.hpp"
#include "schedulers/common/ready_order.hpp"

namespace espalier {
namespace {

using Slot = PartialSchedule::Slot;

/// A partial schedule plus a few tasks placed on trial.
class Trial {
 public:
  Trial(PartialSchedule& partial, const std::vector<double>& rank) : partial_(partial), rank_(rank) {}

  /// Latest end among the successors of t when t has `slot`; t's own end when it has none.
  double latest_end(TaskId t, const Slot& slot, double limit) {
    const Instance& instance = partial_.instance();
    placed_.clear();
    placed_.push_back(slot);
    children_.clear();
    for (const auto& edge : instance.outputs(t)) children_.push_back(edge);
    std::sort(children_.begin(), children_.end(), [&](const auto& a, const auto& b) {
      return rank_[a.task] != rank_[b.task] ? rank_[a.task] > rank_[b.task] : a.task < b.task;
    });
    double latest = slot.finish;
    for (const auto& child : children_) {
      const Slot best = place(child, slot);
      latest = std::max(latest, best.finish);
      if (latest >= limit) return latest;
      placed_.push_back(best);
    }
    return latest;
  }

 private:
  /// Earliest end of a child, whose other predecessors count as far as they are placed.
  Slot place(const Instance::Edge& child, const Slot& parent) {
    const Instance& instance = partial_.instance();
    partial_.arrivals_of_placed(child.task);
    Slot best;
    for (WorkerId w = 0; w < instance.workers(); ++w) {
      const double duration = instance.seconds(child.task, w);
      double ready = parent.finish +
                     instance.transfer(child.bytes, instance.memory_of(parent.worker), instance.memory_of(w));
      if (ready + duration >= best.finish) continue;
      Slot slot = partial_.earliest_after(child.task, w, ready);
      for (bool moved = true; moved;) {
        moved = false;
        for (const Slot& other : placed_)
          if (other.worker == w && slot.start < other.finish && other.start < slot.finish) {
            slot = partial_.earliest_after(child.task, w, other.finish);
            moved = true;
          }
      }
      if (slot.finish < best.finish) best = slot;
    }
    return best;
  }

  PartialSchedule& partial_;
  const std::vector<double>& rank_;
  std::vector<Slot> placed_;
  std::vector<Instance::Edge> children_;
};

class LookaheadHeft final : public StaticScheduler {
 public:
  Plan schedule(const SchedulingProblem& problem) const override {
    const Instance instance(problem);
    const std::vector<double> rank = upward_ranks(instance);
    PartialSchedule partial(instance);
    Trial trial(partial, rank);
    std::vector<Slot> slots(instance.workers());
    in_ready_order(instance, rank, [&](TaskId t) {
      partial.arrivals(t);
      for (WorkerId w = 0; w < instance.workers(); ++w) slots[w] = partial.earliest(t, w);
      Slot best;
      double least = Instance::infinity();
      for (const Slot& slot : slots) {
        if (slot.finish == Instance::infinity()) continue;
        const double latest = trial.latest_end(t, slot, least);
        if (latest < least || (latest == least && slot.finish < best.finish)) {
          least = latest;
          best = slot;
        }
      }
      partial.place(t, best);
    });
    return partial.plan("lookahead_heft_bittencourt2010");
  }
};

}  // namespace

std::unique_ptr<StaticScheduler> make_lookahead_heft_bittencourt2010() {
  return std::make_unique<LookaheadHeft>();
}

}  // namespace espalier
