#pragma once

#include <cstdint>

#include "runtime/task_graph/task_graph.hpp"

namespace espalier {

/// A ready task in a std::priority_queue: the greatest priority first, then first come, first served.
struct ReadyEntry {
  std::int32_t priority;
  std::uint32_t sequence;  ///< of its arrival
  TaskId task;
  bool operator<(const ReadyEntry& o) const {
    return priority != o.priority ? priority < o.priority : sequence > o.sequence;
  }
};

}  // namespace espalier
