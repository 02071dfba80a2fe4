#pragma once

#include <vector>

#include "runtime/starpu/online_driver.hpp"
#include "runtime/starpu/starpu_detail.hpp"

namespace espalier::starpu {

/// The data of a simulated run as StarPU's handles. They have sizes and places but no memory behind them.
class SimulatedData final : public DataView {
 public:
  explicit SimulatedData(const TaskGraph& graph);

  /// Sets the task's handles and modes.
  void give_accesses(TaskId t, starpu_task* task) const;
  /// Predecessors that do not follow from the accesses.
  const std::vector<TaskId>& explicit_predecessors(TaskId t) const;
  /// After the submission of a task: data that no later task reads or writes are let go.
  void submitted(TaskId t);
  /// When a task has ended: data without further tasks may be gone; of those at home no copy is kept.
  void finished(TaskId t);
  /// The datum is on its way to a memory that will want it; the greater priority goes first.
  void send(DataId data, MemoryId memory, int priority);
  /// After the last submission: results go home as soon as they are made.
  void request_results();
  /// Waits; when the last one arrived (us), 0 without results.
  double wait_for_results();
  void unregister();

  bool is_valid(DataId data, MemoryId memory) const override;
  bool is_arriving(DataId data, MemoryId memory) const override;
  void prefetch(TaskId task, starpu_task* submitted, MemoryId memory) override;

 private:
  void find_first_and_last_uses(std::vector<char>& written_first);
  void find_explicit_predecessors();

  const TaskGraph& graph_;
  std::vector<starpu_data_handle_t> handles_;
  std::vector<char> written_;             ///< by some task
  std::vector<char> given_up_;            ///< StarPU unregisters it after its last task
  std::vector<std::uint32_t> uses_left_;  ///< tasks that have not ended
  std::vector<TaskId> last_use_;
  std::vector<std::vector<TaskId>> explicit_;  ///< empty: none of any task
  double last_arrival_ = 0;
};

}  // namespace espalier::starpu
