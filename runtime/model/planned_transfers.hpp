#pragma once

#include <span>
#include <vector>

#include "runtime/model/transfers.hpp"
#include "runtime/plan/plan.hpp"

namespace espalier::model {

/// The transfers that a plan chose and that have not left yet. A transfer belongs to one content of its
/// datum: what task `after` wrote. Who needs the datum before it leaves waits for it.
class PlannedTransfers {
 public:
  struct Move {
    PlannedTransfer what;
    bool pending = true;
    bool reserved = false;  ///< room at the end is set aside: somebody waits for it
    bool result = false;    ///< brings a result home
    std::vector<Waiter> waiters;
  };

  PlannedTransfers() = default;
  PlannedTransfers(std::span<const PlannedTransfer> plan, const TaskGraph& graph);

  bool empty() const { return moves_.empty(); }
  std::uint32_t size() const { return static_cast<std::uint32_t>(moves_.size()); }
  Move& operator[](std::uint32_t index) { return moves_[index]; }
  /// A task has written the datum.
  void written(DataId d, TaskId task) {
    if (!moves_.empty()) writer_[d] = task;
  }
  /// Who wrote the present content; kNoTask: nobody.
  TaskId writer(DataId d) const { return writer_[d]; }
  /// The transfers that wait for this task's output.
  std::span<const std::uint32_t> after(TaskId task) const;
  /// The pending transfer of the datum's present content to this memory, or size().
  std::uint32_t find(DataId d, MemoryId to) const;
  bool reserved(DataId d, MemoryId to) const;
  /// It has left, or is of no use any more.
  void close(std::uint32_t index);
  void expect_result(std::uint32_t index);
  /// Results whose way home is pending.
  std::size_t owed() const { return owed_; }

 private:
  std::vector<Move> moves_;
  std::vector<TaskId> writer_;
  std::vector<std::uint32_t> data_begin_, task_begin_, by_data_, by_task_;
  std::size_t owed_ = 0;
};

}  // namespace espalier::model
