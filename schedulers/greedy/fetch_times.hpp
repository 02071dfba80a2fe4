#pragma once

#include <vector>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// What it takes to bring a task's inputs to a memory, as far as a policy can know it.
class FetchTimes {
 public:
  FetchTimes() = default;
  explicit FetchTimes(const SchedulingProblem& problem);

  /// Sum over the inputs that are not there of latency + bytes / bandwidth from the nearest copy; inputs on
  /// their way count `arriving` times that. O(inputs x memories).
  double seconds(TaskId task, MemoryId memory, const RuntimeView& view, double arriving = 1) const;
  double move(std::int64_t bytes, MemoryId from, MemoryId to) const {
    const Lane& l = lanes_[from * memories_ + to];
    return l.latency + static_cast<double>(bytes) * l.seconds_per_byte;
  }
  /// Inputs that are not in the memory.
  int missing(TaskId task, MemoryId memory, const RuntimeView& view) const;

 private:
  struct Lane {
    double latency = 0, seconds_per_byte = 0;
  };
  const TaskGraph* graph_ = nullptr;
  std::size_t memories_ = 0;
  std::vector<Lane> lanes_;  ///< memories x memories
};

}  // namespace espalier
