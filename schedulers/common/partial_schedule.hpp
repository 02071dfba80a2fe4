#pragma once

#include <string_view>
#include <vector>

#include "schedulers/common/instance.hpp"
#include "schedulers/common/timeline.hpp"

namespace espalier {

/// A schedule under construction: list schedulers ask where a task would end and place it. A task can be
/// placed when its predecessors are.
class PartialSchedule {
 public:
  struct Slot {
    WorkerId worker = kNoWorker;
    double start = 0, finish = Instance::infinity();
  };

  explicit PartialSchedule(const Instance& instance);

  /// When the inputs of a task are in each memory, O(inputs x memories). Valid until the next call.
  const std::vector<double>& arrivals(TaskId t);
  /// The same for a task some of whose predecessors are not placed yet: those do not count.
  const std::vector<double>& arrivals_of_placed(TaskId t);
  /// Earliest slot on a worker in a gap or at the end; arrivals(t) must have been the last call.
  Slot earliest(TaskId t, WorkerId w) const;
  /// The same, but not before `ready`.
  Slot earliest_after(TaskId t, WorkerId w, double ready) const;
  /// Earliest finish over all workers, ties to the first worker.
  Slot earliest_finish(TaskId t);
  void place(TaskId t, const Slot& slot);

  bool placed(TaskId t) const { return slots_[t].worker != kNoWorker; }
  const Slot& slot(TaskId t) const { return slots_[t]; }
  double end_of(WorkerId w) const { return timelines_[w].end(); }
  const Instance& instance() const { return *instance_; }
  /// The plan, each worker's tasks in order of start.
  Plan plan(std::string_view scheduler) const;

 private:
  const Instance* instance_;
  std::vector<Slot> slots_;
  std::vector<Timeline> timelines_;
  std::vector<double> arrivals_;
};

/// Turns slots into a plan: positions by start, then finish, then id.
Plan make_plan(const Instance& instance, const std::vector<PartialSchedule::Slot>& slots,
               std::string_view scheduler);

}  // namespace espalier
