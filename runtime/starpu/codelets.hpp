#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>

#include "runtime/starpu/starpu_detail.hpp"
#include "runtime/task_graph/task_graph.hpp"

namespace espalier::starpu {

/// What a task runs. run() is called on a worker's thread with the addresses of the task's data in the order
/// of its handles; it must not throw: the call comes from C.
class TaskBody {
 public:
  /// `program` and `task` tell a TaskDriver which task of which program it is; kNoTask: of none.
  explicit TaskBody(std::uint64_t footprint = 0, const void* program = nullptr, TaskId task = kNoTask)
      : footprint_(static_cast<std::uint32_t>(footprint ^ (footprint >> 32))),
        task_(task),
        program_(program) {}
  virtual ~TaskBody() = default;
  virtual void run(void** buffers, unsigned worker) noexcept = 0;
  std::uint32_t footprint() const { return footprint_; }
  const void* program() const { return program_; }
  TaskId task() const { return task_; }

 private:
  std::uint32_t footprint_;
  TaskId task_;
  const void* program_;
};

/// The body of a task of ours; null for tasks of StarPU's own or of others.
const TaskBody* body_of(const starpu_task* task);

/// One codelet for each kind of work, all with one C function that calls the task's body, and one history
/// based performance model "espalier_NAME" whose key is the body's footprint. The entries stay where they are
/// until StarPU has shut down.
class CodeletTable {
 public:
  using CanExecute = int (*)(unsigned worker, starpu_task* task, unsigned implementation);
  CodeletTable() = default;
  /// For simulated machines: the codelets are for CUDA devices too; `can_execute` tells who runs which task.
  explicit CodeletTable(CanExecute can_execute) : can_execute_(can_execute) {}
  starpu_codelet* get(const std::string& name);

 private:
  struct Entry {
    std::string name, symbol;
    starpu_codelet codelet;
    starpu_perfmodel model;
  };
  CanExecute can_execute_ = nullptr;
  std::deque<Entry> entries_;
  std::map<std::string, Entry*> by_name_;
};

}  // namespace espalier::starpu
