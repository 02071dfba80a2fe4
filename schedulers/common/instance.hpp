#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// A scheduling problem in the compact form that list schedulers read: edges that carry bytes, times by
/// worker, transfer times by pair of memories. Built once, O(n + e + p), then only read.
///
/// The model of a transfer: data written by u and read by t arrive at finish(u) + latency + bytes / bandwidth
/// of the route, nothing when both ends share a memory; transfers do not disturb one another. Data that the
/// graph only reads leave their home at time 0.
class Instance {
 public:
  struct Edge {
    TaskId task;         ///< the other end
    std::int64_t bytes;  ///< read by the later task; 0: order only
  };
  struct HomeRead {
    std::int64_t bytes;
    MemoryId home;
  };

  /// InputError naming the first task that no worker can run: no cost, or a working set above the memory.
  /// Keeps a reference to the problem.
  explicit Instance(const SchedulingProblem& problem);

  const SchedulingProblem& problem() const { return *problem_; }
  std::size_t tasks() const { return tasks_; }
  std::size_t workers() const { return worker_kind_.size(); }
  std::size_t kinds() const { return kinds_; }
  std::size_t memories() const { return memories_; }
  KindId kind_of(WorkerId w) const { return worker_kind_[w]; }
  MemoryId memory_of(WorkerId w) const { return worker_memory_[w]; }

  std::span<const Edge> inputs(TaskId t) const { return slice(inputs_, input_begin_, t); }
  std::span<const Edge> outputs(TaskId t) const { return slice(outputs_, output_begin_, t); }
  std::span<const HomeRead> home_reads(TaskId t) const { return slice(home_reads_, home_begin_, t); }

  /// Seconds of a task on a worker; infinity when it cannot run there.
  double seconds(TaskId t, WorkerId w) const {
    if (!working_set_.empty() && working_set_[t] > capacity_[worker_memory_[w]]) return infinity();
    return seconds_of_kind(t, worker_kind_[w]);
  }
  /// The same by kind, without regard to memory size.
  double seconds_of_kind(TaskId t, KindId k) const { return costs_[task_class_[t] * kinds_ + k]; }
  /// Mean over the workers that can run it, as in the papers' average execution cost.
  double mean_seconds(TaskId t) const { return mean_cost_[task_class_[t]]; }
  /// Least over the workers.
  double least_seconds(TaskId t) const { return least_cost_[task_class_[t]]; }
  CostClass class_of(TaskId t) const { return task_class_[t]; }

  double transfer(std::int64_t bytes, MemoryId from, MemoryId to) const {
    if (bytes == 0 || from == to) return 0;
    const Lane& l = lanes_[from * memories_ + to];
    return l.latency + static_cast<double>(bytes) / l.bandwidth;
  }
  /// Mean over ordered pairs of different workers (0 for those that share a memory).
  double mean_transfer(std::int64_t bytes) const { return over(mean_, bytes); }
  /// Mean over pairs of workers in different memories.
  double mean_remote_transfer(std::int64_t bytes) const { return over(mean_remote_, bytes); }
  /// Least over pairs of workers' different memories: what a remote edge costs at least.
  double least_remote_transfer(std::int64_t bytes) const;
  /// True when some edge with bytes can be remote at all.
  bool has_transfers() const { return has_transfers_; }
  /// True when no way over a copy in a third memory is faster than the direct one: then no engine that may
  /// fetch from any copy beats this model, and its optimum is a lower bound.
  bool direct_is_fastest() const;
  static double infinity() { return std::numeric_limits<double>::infinity(); }

 private:
  struct Lane {
    double latency = 0, bandwidth = std::numeric_limits<double>::infinity();
  };
  struct Mean {
    double latency = 0, seconds_per_byte = 0;
  };
  static double over(const Mean& l, std::int64_t bytes) {
    return bytes == 0 ? 0 : l.latency + static_cast<double>(bytes) * l.seconds_per_byte;
  }
  template <class T>
  static std::span<const T> slice(const std::vector<T>& items, const std::vector<std::uint32_t>& begin,
                                  TaskId t) {
    return {items.data() + begin[t], begin[t + 1] - begin[t]};
  }
  void read_edges();
  void read_lanes();
  void read_costs();
  void read_working_sets();
  void require_runnable() const;

  const SchedulingProblem* problem_;
  std::size_t tasks_, kinds_, memories_;
  bool has_transfers_ = false;
  std::vector<KindId> worker_kind_;
  std::vector<MemoryId> worker_memory_;
  std::vector<CostClass> task_class_;
  std::vector<double> costs_, mean_cost_, least_cost_;
  std::vector<std::uint32_t> input_begin_, output_begin_, home_begin_;
  std::vector<Edge> inputs_, outputs_;
  std::vector<HomeRead> home_reads_;
  std::vector<Lane> lanes_;  ///< memories x memories
  Mean mean_, mean_remote_;
  std::vector<std::int64_t> working_set_, capacity_;  ///< empty when every memory is unlimited
};

/// Longest time that a scheduler's own model gives to a plan: the latest finish.
double latest_finish(const Plan& plan);

}  // namespace espalier
