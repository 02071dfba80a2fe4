#pragma once

#include <functional>
#include <span>
#include <vector>

#include "runtime/plan/plan.hpp"

namespace espalier::starpu {

/// With a plan it is known who reads what next: the inputs of each worker's next tasks leave for its memory
/// as soon as they are written, soonest planned start first. Next are the five from the first that has not
/// ended and those that start within eight times the longest transfer after it. Further ahead nothing is
/// sent: StarPU keeps few transfers under way, and those of later tasks would be in front of urgent ones.
class PlannedSends {
 public:
  /// Datum, memory that will read it, priority (greater first).
  using Send = std::function<void(DataId, MemoryId, int)>;

  PlannedSends(const TaskGraph& graph, const Platform& platform, std::span<const Placement> placements,
               Send send);
  /// Before the first task: what is at home.
  void begin();
  void finished(TaskId task);

 private:
  struct Input {
    DataId data;
    TaskId writer;  ///< of the content that is read; kNoTask: as it was at the start
    bool sent;
  };
  void advance(WorkerId worker);
  void send_inputs(TaskId task);

  const TaskGraph& graph_;
  const Platform& platform_;
  std::span<const Placement> placements_;
  Send send_;
  double horizon_;  ///< seconds
  std::vector<std::uint32_t> input_begin_;
  std::vector<Input> inputs_;                     ///< by task
  std::vector<std::vector<TaskId>> order_;        ///< by worker
  std::vector<std::size_t> first_, last_;         ///< by worker: the first not ended, the end of its window
  std::vector<std::vector<TaskId>> waiting_for_;  ///< by writer: tasks of a window that read its output
  std::vector<char> done_;
  std::vector<int> priority_;
};

}  // namespace espalier::starpu
