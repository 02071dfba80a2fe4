#pragma once

#include <vector>

#include "schedulers/common/partial_schedule.hpp"

namespace espalier {

/// Ready tasks with the arrivals of their data, for schedulers that look at many ready tasks again and again.
/// Tasks are only appended to workers, so a task's best slot only gets later as others are placed.
class ReadyPool {
 public:
  /// Which slot of a task is best: the one that ends first or the one that starts first.
  enum class Aim { finish, start };

  ReadyPool(const Instance& instance, Aim aim);
  /// Tasks that are ready and not placed; order without meaning.
  const std::vector<TaskId>& ready() const { return ready_; }
  /// Best slot of a ready task behind what is placed, ties to the first worker.
  PartialSchedule::Slot best(TaskId t) const;
  /// Places a ready task; appends the tasks that became ready to `fresh`.
  void place(TaskId t, const PartialSchedule::Slot& slot, std::vector<TaskId>& fresh);
  Plan plan(std::string_view scheduler) const { return make_plan(*instance_, slots_, scheduler); }

 private:
  void enter(TaskId t);
  const Instance* instance_;
  Aim aim_;
  std::vector<PartialSchedule::Slot> slots_;
  std::vector<double> free_, arrivals_;  ///< by worker; task x memory
  std::vector<std::uint32_t> missing_, place_in_ready_;
  std::vector<TaskId> ready_;
};

}  // namespace espalier
