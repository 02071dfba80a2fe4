#pragma once

#include <cstdint>
#include <vector>

#include "experiments/compare/critical_chain.hpp"
#include "experiments/compare/idle_time.hpp"

namespace espalier {

/// What a Gantt chart draws of one execution: a bar for each task, or, where there are more than a page can
/// take, for short neighbours on a worker together.
struct GanttBar {
  double start, end;
  WorkerId worker;
  TaskId task;                                 ///< of several the longest
  std::uint32_t tasks = 1;                     ///< how many this bar stands for
  bool critical = false;                       ///< (one of them) on the critical chain
  LostCause cause = LostCause::nothing_ready;  ///< largest part of the gap before it
  double waited = 0;                           ///< length of the gap before it
  double busy = 0;                             ///< seconds computed within the bar
};
struct GanttTransfer {
  double start, end;
  MemoryId from, to;
  DataId data;
  bool critical = false;
};
struct Gantt {
  std::vector<GanttBar> bars;            ///< by worker, then by start
  std::vector<GanttTransfer> transfers;  ///< by start; the longest and the critical ones where too many
  bool merged = false;
};

/// At most about `limit` bars: neighbours are merged until a bar covers makespan x workers / limit.
Gantt make_gantt(const Platform& platform, const Trace& trace, const IdleTime& idle,
                 const CriticalChain& chain, std::size_t limit);

}  // namespace espalier
