#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/plan/plan.hpp"
#include "runtime/trace/trace.hpp"

/// The critical path of an execution: the chain of tasks, transfers and waits that made the makespan.
namespace espalier {

enum class ChainStep : std::uint8_t { task, transfer, wait };
/// What a step of the chain started after.
enum class ChainReason : std::uint8_t {
  begin,        ///< the start of the run
  predecessor,  ///< the end of a task that it depends on
  worker,       ///< the end of the task before it on the worker
  data,         ///< the arrival of an input
  copy_queue,   ///< the transfer before it between the same memories
  room,         ///< room in the memory
  decision,     ///< none of these: the scheduler gave it out, or the runtime started it, at that time
};
/// "after a predecessor", ...
std::string_view name_of(ChainReason reason);

struct ChainLink {
  ChainStep step;
  ChainReason after;
  std::uint32_t
      event;  ///< index into the trace's tasks or transfers; of a wait: that of the task it precedes
  double start, end;
};

struct CriticalChain {
  std::vector<ChainLink> links;  ///< by time; each starts where the one before it ends
  double task_seconds = 0, transfer_seconds = 0, wait_seconds = 0;  ///< add up to the makespan
};

/// Walks back from the task that ends last (of equal ones the smallest id). Of several things that ended when
/// a step started the first of the list above counts. O(n + e) beside the walk.
CriticalChain critical_chain(const SchedulingProblem& problem, const Trace& trace);

}  // namespace espalier
