#include "runtime/starpu/planned_sends.hpp"

#include <algorithm>
#include <numeric>

namespace espalier::starpu {
namespace {

constexpr std::size_t kTasksAhead = 5;
constexpr double kTransfersAhead = 8;

/// Seconds that the largest datum takes between main memory and the memory that is slowest to reach.
double longest_transfer(const TaskGraph& graph, const Platform& platform) {
  Bytes largest{0};
  for (DataId d = 0; d < graph.data_count(); ++d) largest = std::max(largest, graph.data(d).size);
  double longest = 0;
  for (const Worker& w : platform.workers)
    longest = std::max(longest, platform.transfer_time(largest, 0, w.memory).value);
  return longest;
}

}  // namespace

PlannedSends::PlannedSends(const TaskGraph& graph, const Platform& platform,
                           std::span<const Placement> placements, Send send)
    : graph_(graph),
      platform_(platform),
      placements_(placements),
      send_(std::move(send)),
      horizon_(kTransfersAhead * longest_transfer(graph, platform)),
      order_(platform.workers.size()),
      first_(platform.workers.size(), 0),
      last_(platform.workers.size(), 0),
      waiting_for_(graph.task_count()),
      done_(graph.task_count(), 0),
      priority_(graph.task_count()) {
  std::vector<TaskId> writer(graph.data_count(), kNoTask);
  input_begin_.push_back(0);
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    for (const Access& a : graph.accesses(t))
      if (reads(a.mode)) inputs_.push_back({a.data, writer[a.data], false});
    for (const Access& a : graph.accesses(t))
      if (writes(a.mode)) writer[a.data] = t;
    input_begin_.push_back(static_cast<std::uint32_t>(inputs_.size()));
  }
  std::vector<TaskId> by_start(graph.task_count());
  std::iota(by_start.begin(), by_start.end(), TaskId{0});
  std::stable_sort(by_start.begin(), by_start.end(),
                   [&](TaskId a, TaskId b) { return placements_[a].start < placements_[b].start; });
  for (std::size_t i = 0; i < by_start.size(); ++i) priority_[by_start[i]] = -static_cast<int>(i);
  for (const TaskId t : by_start) order_[placements_[t].worker].push_back(t);
  for (auto& tasks : order_)
    std::stable_sort(tasks.begin(), tasks.end(),
                     [&](TaskId a, TaskId b) { return placements_[a].position < placements_[b].position; });
}

void PlannedSends::begin() {
  for (WorkerId w = 0; w < order_.size(); ++w) advance(w);
}

void PlannedSends::finished(TaskId task) {
  done_[task] = 1;
  std::vector<TaskId> readers = std::move(waiting_for_[task]);
  std::sort(readers.begin(), readers.end(), [&](TaskId a, TaskId b) { return priority_[a] > priority_[b]; });
  for (const TaskId t : readers) send_inputs(t);
  advance(placements_[task].worker);
}

void PlannedSends::advance(WorkerId worker) {
  const auto& tasks = order_[worker];
  while (first_[worker] < tasks.size() && done_[tasks[first_[worker]]] != 0) ++first_[worker];
  if (first_[worker] == tasks.size()) return;
  const double horizon = placements_[tasks[first_[worker]]].start + horizon_;
  for (; last_[worker] < tasks.size(); ++last_[worker]) {
    const TaskId t = tasks[last_[worker]];
    if (last_[worker] >= first_[worker] + kTasksAhead && placements_[t].start > horizon) break;
    send_inputs(t);
    for (std::uint32_t i = input_begin_[t]; i < input_begin_[t + 1]; ++i)
      if (!inputs_[i].sent) waiting_for_[inputs_[i].writer].push_back(t);
  }
}

void PlannedSends::send_inputs(TaskId task) {
  const MemoryId there = platform_.workers[placements_[task].worker].memory;
  for (std::uint32_t i = input_begin_[task]; i < input_begin_[task + 1]; ++i) {
    Input& input = inputs_[i];
    if (input.sent || (input.writer != kNoTask && done_[input.writer] == 0)) continue;
    input.sent = true;
    const MemoryId written = input.writer == kNoTask
                                 ? graph_.data(input.data).home
                                 : platform_.workers[placements_[input.writer].worker].memory;
    if (written != there) send_(input.data, there, priority_[task]);
  }
}

}  // namespace espalier::starpu
