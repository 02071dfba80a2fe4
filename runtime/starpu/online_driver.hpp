#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"
#include "runtime/starpu/task_driver.hpp"

namespace espalier::starpu {

/// What is known of a run's data, and how to move them. Called under the driver's lock.
class DataView {
 public:
  virtual ~DataView() = default;
  virtual bool is_valid(DataId data, MemoryId memory) const = 0;
  virtual bool is_arriving(DataId data, MemoryId memory) const = 0;
  virtual void prefetch(TaskId task, starpu_task* submitted, MemoryId memory) = 0;
};

/// A driver that asks an online policy, under one lock, as the model engine does; StarPU's worker w is the
/// platform's worker w. Expected ends come from the problem's costs; all data are in main memory unless
/// `data` tells more. The problem's parts must outlive the driver. A policy that throws, gives out a task
/// that is not ready, or keeps ready tasks back while nothing runs for a second has failed: the rest runs
/// first come, first served, and error() says it.
std::unique_ptr<TaskDriver> make_online_driver(const void* program, const SchedulingProblem& problem,
                                               std::unique_ptr<OnlinePolicy> policy, std::string name,
                                               DataView* data = nullptr);

}  // namespace espalier::starpu
