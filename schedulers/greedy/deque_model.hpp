#pragma once

#include <map>
#include <vector>

#include "schedulers/greedy/fetch_times.hpp"

namespace espalier {

/// What tells the members of the family apart.
struct DequeModelOptions {
  bool data_aware = false;  ///< the time to fetch inputs counts, and they are prefetched
  bool sorted = false;      ///< queues by priority, then by how few inputs are missing; else first come
  double arriving = 1;      ///< share of its time that counts for an input on its way
};

/// StarPU's deque model family: a ready task goes to the queue of the worker where it is expected to end
/// first. Expected end: when the worker is free, plus what is queued before the task, plus the task; the time
/// to fetch its inputs is added to that. O(workers + inputs x memories^2) a task.
class DequeModel : public OnlinePolicy {
 public:
  explicit DequeModel(DequeModelOptions options) : options_(options) {}
  void begin(const SchedulingProblem& problem, RuntimeView& view) override;
  void ready(TaskId task) override;
  TaskId pick(WorkerId worker) override;
  void done(TaskId, WorkerId) override {}

 protected:
  /// Set before ready(): greater first, by task; empty: the graph's hints.
  std::vector<double> priorities_;
  /// Set before ready(): workers of this kind and memory only, by task; empty: all.
  struct Place {
    KindId kind;
    MemoryId memory;
  };
  std::vector<Place> places_;

 private:
  struct Entry {
    TaskId task;
    double length;  ///< expected, with what of the fetch is not hidden behind earlier tasks
  };
  using Queue = std::multimap<double, Entry, std::greater<>>;  ///< by priority; insertion order among equals

  double priority(TaskId task) const {
    if (!options_.sorted) return 0;
    return priorities_.empty() ? problem_->graph.task(task).priority : priorities_[task];
  }
  bool allowed(TaskId task, const Worker& w) const {
    return problem_->costs.can_run(problem_->graph.task(task).cost_class, w.kind) &&
           (places_.empty() || (places_[task].kind == w.kind && places_[task].memory == w.memory));
  }
  double queued_before(WorkerId w, double priority) const;
  Queue::iterator most_ready(WorkerId w);

  DequeModelOptions options_;
  const SchedulingProblem* problem_ = nullptr;
  RuntimeView* view_ = nullptr;
  FetchTimes fetch_;
  std::vector<Queue> queues_;
  std::vector<double> queued_;         ///< seconds, by worker
  std::vector<double> fetch_seconds_;  ///< by memory, scratch
};

}  // namespace espalier
