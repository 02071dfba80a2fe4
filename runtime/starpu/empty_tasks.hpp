#pragma once

#include <memory>

#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/task_driver.hpp"
#include "runtime/task_graph/task_graph.hpp"

namespace espalier::starpu {

/// Tasks that do nothing, each with up to three of `data` small data: what StarPU and a policy cost, with all
/// workers at work. Task t reads data 7 t + 1 and 13 t + 3 and updates datum t (all modulo `data`), so some
/// tens of tasks can run at any time.
class EmptyTasks {
 public:
  EmptyTasks(Machine& machine, TaskId tasks, DataId data);
  ~EmptyTasks();

  const TaskGraph& graph() const;
  /// For a driver's `program`.
  const void* program() const;
  /// Submits all tasks and waits for them; the driver (null: none) decides. Seconds from the first submission
  /// to the end of the wait.
  double run(TaskDriver* driver);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier::starpu
