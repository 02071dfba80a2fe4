#include "experiments/compare/gantt.hpp"

#include <algorithm>
#include <tuple>

namespace espalier {
namespace {

/// Joins bars of a worker until they cover `least` seconds.
std::vector<GanttBar> merge_short(const std::vector<GanttBar>& bars, double least) {
  std::vector<GanttBar> merged;
  double longest = 0;  // of the tasks in merged.back()
  for (const GanttBar& b : bars) {
    GanttBar* last = merged.empty() ? nullptr : &merged.back();
    if (last == nullptr || last->worker != b.worker || b.end - last->start > least) {
      merged.push_back(b);
      longest = b.end - b.start;
      continue;
    }
    last->end = std::max(last->end, b.end);
    last->busy += b.busy;
    last->tasks += b.tasks;
    last->critical = last->critical || b.critical;
    if (b.end - b.start > longest) {
      longest = b.end - b.start;
      last->task = b.task;
    }
  }
  return merged;
}

void keep_most_telling(std::vector<GanttTransfer>& transfers, std::size_t limit) {
  if (transfers.size() <= limit) return;
  std::stable_sort(transfers.begin(), transfers.end(), [](const GanttTransfer& a, const GanttTransfer& b) {
    return a.critical != b.critical ? a.critical : a.end - a.start > b.end - b.start;
  });
  transfers.resize(limit);
}

}  // namespace

Gantt make_gantt(const Platform& platform, const Trace& trace, const IdleTime& idle,
                 const CriticalChain& chain, std::size_t limit) {
  Gantt gantt;
  std::vector<char> critical_task(trace.tasks.size(), 0), critical_transfer(trace.transfers.size(), 0);
  for (const ChainLink& l : chain.links)
    if (l.step != ChainStep::wait)
      (l.step == ChainStep::task ? critical_task : critical_transfer)[l.event] = 1;
  for (std::size_t i = 0; i < trace.tasks.size(); ++i) {
    const TaskEvent& e = trace.tasks[i];
    const WorkerTime gap{0, idle.before[i]};
    gantt.bars.push_back({e.start, e.end, e.worker, e.task, 1, critical_task[i] != 0, gap.largest(),
                          gap.total(), e.end - e.start});
  }
  std::sort(gantt.bars.begin(), gantt.bars.end(), [](const GanttBar& a, const GanttBar& b) {
    return std::tie(a.worker, a.start, a.task) < std::tie(b.worker, b.start, b.task);
  });
  if (gantt.bars.size() > limit) {
    const double least =
        trace.makespan * static_cast<double>(platform.workers.size()) / static_cast<double>(limit);
    gantt.bars = merge_short(gantt.bars, least);
    gantt.merged = true;
  }
  for (std::size_t i = 0; i < trace.transfers.size(); ++i) {
    const TransferEvent& e = trace.transfers[i];
    gantt.transfers.push_back({e.start, e.end, e.from, e.to, e.data, critical_transfer[i] != 0});
  }
  keep_most_telling(gantt.transfers, limit / 2);
  std::stable_sort(gantt.transfers.begin(), gantt.transfers.end(),
                   [](const GanttTransfer& a, const GanttTransfer& b) { return a.start < b.start; });
  return gantt;
}

}  // namespace espalier
