#include "runtime/model/planned_transfers.hpp"

#include <numeric>

namespace espalier::model {

PlannedTransfers::PlannedTransfers(std::span<const PlannedTransfer> plan, const TaskGraph& graph) {
  if (plan.empty()) return;
  moves_.resize(plan.size());
  writer_.assign(graph.data_count(), kNoTask);
  data_begin_.assign(graph.data_count() + 1, 0);
  task_begin_.assign(graph.task_count() + 1, 0);
  for (std::size_t i = 0; i < plan.size(); ++i) {
    moves_[i].what = plan[i];
    ++data_begin_[plan[i].data + 1];
    if (plan[i].after != kNoTask) ++task_begin_[plan[i].after + 1];
  }
  std::partial_sum(data_begin_.begin(), data_begin_.end(), data_begin_.begin());
  std::partial_sum(task_begin_.begin(), task_begin_.end(), task_begin_.begin());
  by_data_.resize(data_begin_.back());
  by_task_.resize(task_begin_.back());
  auto next_of_data = data_begin_, next_of_task = task_begin_;
  for (std::uint32_t i = 0; i < moves_.size(); ++i) {
    by_data_[next_of_data[plan[i].data]++] = i;
    if (plan[i].after != kNoTask) by_task_[next_of_task[plan[i].after]++] = i;
  }
}

std::span<const std::uint32_t> PlannedTransfers::after(TaskId task) const {
  if (moves_.empty()) return {};
  return {by_task_.data() + task_begin_[task], task_begin_[task + 1] - task_begin_[task]};
}

std::uint32_t PlannedTransfers::find(DataId d, MemoryId to) const {
  for (std::uint32_t i = data_begin_[d]; i < data_begin_[d + 1]; ++i) {
    const Move& move = moves_[by_data_[i]];
    if (move.pending && move.what.to == to && move.what.after == writer_[d]) return by_data_[i];
  }
  return size();
}

bool PlannedTransfers::reserved(DataId d, MemoryId to) const {
  if (moves_.empty()) return false;
  const std::uint32_t i = find(d, to);
  return i < size() && moves_[i].reserved;
}

void PlannedTransfers::expect_result(std::uint32_t index) {
  if (moves_[index].result) return;
  moves_[index].result = true;
  ++owed_;
}

void PlannedTransfers::close(std::uint32_t index) {
  moves_[index].pending = false;
  if (moves_[index].result) --owed_;
}

}  // namespace espalier::model
