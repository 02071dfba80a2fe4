#pragma once

#include <exception>
#include <string>

#include "runtime/platform/platform.hpp"

struct starpu_task;

namespace espalier::starpu {

/// Who decides, under Espalier's own StarPU policy, which worker runs which task of one program: a plan
/// (PlanDriver) or an online policy (OnlineDriver). The policy calls push, pop and done from StarPU's
/// threads, all at once; none of them may throw.
class TaskDriver {
 public:
  /// `program`: tasks whose body names another one are not for this driver.
  explicit TaskDriver(const void* program) : program_(program) {}
  virtual ~TaskDriver() = default;

  /// Before the first task of a run; nothing is in flight. What an online policy throws comes out here.
  virtual void begin() = 0;
  /// The worker that is going to run the task, so that its inputs can be moved before; kNoWorker: not
  /// settled.
  virtual WorkerId planned_worker(TaskId /*id*/) const { return kNoWorker; }
  /// All predecessors are done. Returns the worker to wake, kNoWorker: any.
  virtual WorkerId push(starpu_task* task, TaskId id) = 0;
  /// A task for this worker or null.
  virtual starpu_task* pop(unsigned worker) = 0;
  /// Its data are there and the worker begins, or has it in line behind the one that runs. Told where a pop
  /// and a start can be far apart: in simulations, and by workers beside other memories than the main one.
  virtual void started(TaskId /*id*/, unsigned /*worker*/) {}
  virtual void done(TaskId id, unsigned worker) = 0;
  /// No further task of this run is going to be submitted, and some never were: what is in flight is handed
  /// out in any order, so that nothing waits for a task that does not come.
  virtual void release() = 0;
  /// What went wrong in a policy since begin(); the run went on first come, first served.
  virtual std::exception_ptr error() const { return nullptr; }
  virtual std::string name() const = 0;

  const void* program() const { return program_; }

 private:
  const void* program_;
};

}  // namespace espalier::starpu
