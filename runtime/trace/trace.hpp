#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/platform/platform.hpp"
#include "runtime/task_graph/task_graph.hpp"

/// What happened in one execution, real or simulated: the one event schema of all engines.
namespace espalier {

struct TaskEvent {
  TaskId task;
  WorkerId worker;
  double start, end;        ///< seconds from the start of the run
  double ready;             ///< when its last predecessor ended
  double data_ready;        ///< when its inputs were in the worker's memory
  double memory_ready = 0;  ///< when there was room for its data there; `ready` if it never waited for room
};

struct TransferEvent {
  DataId data;
  MemoryId from, to;
  double start, end;
  bool eviction = false;
};

/// All transfers between two memories together, from engines that do not tell them one by one.
struct MovedBytes {
  MemoryId from, to;
  double bytes;
  std::uint64_t transfers;
};

struct MemorySample {
  double time;
  MemoryId memory;
  std::int64_t bytes;
};

struct Trace {
  std::string engine;  ///< "model", "simgrid", "starpu"
  std::string scheduler;
  double makespan = 0;
  std::vector<TaskEvent> tasks;           ///< by end time
  std::vector<TransferEvent> transfers;   ///< by end time
  std::vector<MovedBytes> moved;          ///< where `transfers` is empty
  std::vector<MemorySample> memory;       ///< changes of use, optional
  std::vector<std::int64_t> peak_memory;  ///< by memory
  double scheduler_seconds = 0;           ///< wall time spent in the policy
};

}  // namespace espalier
