#pragma once

#include <random>
#include <vector>

#include "schedulers/common/partial_schedule.hpp"

namespace espalier {

/// A schedule as a sequence for local search: tasks in a topological order, each appended to its worker, or,
/// if it is free to choose, to the one where it ends first. Evaluation starts again where a change was made.
class Sequence {
 public:
  explicit Sequence(const Instance& instance);

  /// From a plan: tasks by start, all pinned to their workers.
  void assign(const Plan& plan);
  /// From an order by falling key, no task pinned.
  void assign(const std::vector<double>& key);

  /// Times of all tasks from `from` on in the order; gives up above `limit` (returns infinity) as soon as a
  /// task's end plus the least time after it is above.
  double evaluate(std::size_t from, double limit);

  /// Moves the task at one position to another; the caller keeps to range().
  void move(std::size_t from, std::size_t to);
  void pin(TaskId t, WorkerId w) { pinned_[t] = w; }
  WorkerId pinned(TaskId t) const { return pinned_[t]; }
  WorkerId worker(TaskId t) const { return slots_[t].worker; }
  /// Positions that the task may take with all others in order.
  std::pair<std::size_t, std::size_t> range(TaskId t) const;
  std::size_t position(TaskId t) const { return position_[t]; }
  TaskId at(std::size_t position) const { return order_[position]; }
  std::size_t size() const { return order_.size(); }

  /// Tasks that hold up the latest one, each by its data or its worker, last first.
  void critical_chain(std::vector<TaskId>& chain) const;
  const std::vector<PartialSchedule::Slot>& slots() const { return slots_; }
  /// Mean of the workers' ends: tells apart schedules of equal makespan.
  double mean_end() const;

 private:
  const Instance* instance_;
  std::size_t workers_;
  std::vector<TaskId> order_;
  std::vector<std::uint32_t> position_;
  std::vector<WorkerId> pinned_;
  std::vector<PartialSchedule::Slot> slots_;
  std::vector<double> after_;     ///< least time from a task's end to the end of all
  std::vector<double> free_at_;   ///< position x worker: when the workers are free before it
  std::vector<double> arrivals_;  ///< by memory
  std::vector<double> duration_;  ///< task x worker
};

}  // namespace espalier
