#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "runtime/starpu/starpu_detail.hpp"
#include "runtime/starpu/taking_turns.hpp"

namespace espalier::starpu {

/// First come, first served, for tasks that no driver knows. The number of tasks is read without the lock: an
/// idle worker that polls does not hinder those that push.
class CommonQueue {
 public:
  void push(starpu_task* task) {
    const std::lock_guard lock(mutex_);
    starpu_push_task_end(task);
    tasks_.push_back(task);
    size_.store(tasks_.size());
  }
  /// The first one that this worker can run, or null.
  starpu_task* pop(unsigned worker) {
    if (size_.load() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    for (auto it = tasks_.begin(); it != tasks_.end(); ++it) {
      unsigned implementation = 0;
      if (starpu_worker_can_execute_task_first_impl(worker, *it, &implementation) == 0) continue;
      starpu_task* task = *it;
      starpu_task_set_implementation(task, implementation);
      tasks_.erase(it);
      size_.store(tasks_.size());
      return task;
    }
    return nullptr;
  }

 private:
  Mutex mutex_;
  std::deque<starpu_task*> tasks_;
  std::atomic<std::size_t> size_{0};
};

}  // namespace espalier::starpu
