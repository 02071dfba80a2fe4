#pragma once

#include <span>

#include "runtime/plan/plan.hpp"

namespace espalier::model {

/// Where the engine gets its next tasks from: a plan or a policy.
class TaskSource {
 public:
  virtual ~TaskSource() = default;
  virtual void begin(RuntimeView& view) = 0;
  virtual void ready(TaskId task) = 0;
  /// A ready task for this worker, or kNoTask.
  virtual TaskId next(WorkerId worker) = 0;
  virtual void done(TaskId task, WorkerId worker) = 0;
  /// Where and when a task is going to run, if that is settled before it is ready; else kNoWorker.
  virtual WorkerId planned_worker(TaskId) const { return kNoWorker; }
  virtual double planned_start(TaskId) const { return 0; }
  /// When this datum is next used in this memory (infinity: never); negative: not known.
  virtual double next_use(DataId, MemoryId) const { return -1; }
  /// Movements that the source chose; empty: it leaves them to the engine.
  virtual std::span<const PlannedTransfer> transfers() const { return {}; }
  /// The error when nothing runs, nothing moves and tasks are left.
  [[noreturn]] virtual void fail_stuck(std::size_t left) const = 0;
};

}  // namespace espalier::model
