#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/perfmodel/cost_table.hpp"
#include "runtime/platform/platform.hpp"
#include "runtime/task_graph/task_graph.hpp"

namespace espalier {

struct Placement {
  WorkerId worker = kNoWorker;
  std::uint32_t position = 0;    ///< order on the worker, from 0, without gaps
  double start = 0, finish = 0;  ///< expected, seconds
};

/// A movement that the scheduler chose: the datum as task `after` left it (kNoTask: as it was at the start)
/// leaves `from` when it is there, but not before `start`.
struct PlannedTransfer {
  DataId data = 0;
  TaskId after = kNoTask;
  MemoryId from = 0, to = 0;
  double start = 0;  ///< seconds
};

/// A static schedule: for each task who runs it and when. JSON version 1 (runtime/plan/plan_json.hpp); the
/// same file runs on every engine. Fingerprints tell which graph and platform it is for.
struct Plan {
  std::string scheduler;
  std::uint64_t seed = 0;
  std::uint64_t graph_fingerprint = 0, platform_fingerprint = 0;
  std::vector<Placement> placements;  ///< by task
  /// By start; empty: the engine moves data as it sees fit. What is not named here moves when it is needed.
  std::vector<PlannedTransfer> transfers;
  double makespan = 0;          ///< expected by the scheduler's own model
  bool proven_optimal = false;  ///< by an exact scheduler
  double lower_bound = 0;       ///< proven by the scheduler itself; 0: none

  /// Tasks of each worker in order.
  std::vector<std::vector<TaskId>> by_worker(std::size_t workers) const;
};

struct SchedulingProblem {
  const TaskGraph& graph;
  const Platform& platform;
  const CostTable& costs;
  std::uint64_t seed = 0;
  Seconds time_limit{1.0};  ///< for schedulers that search
};

/// A pure function of the problem: same problem, same plan. (A search that stops by time says so in its docs;
/// it stops by a deterministic count of steps wherever possible.)
class StaticScheduler {
 public:
  virtual ~StaticScheduler() = default;
  virtual Plan schedule(const SchedulingProblem& problem) const = 0;
};

/// What an online policy may ask while the run goes on; given by the model engine and by StarPU alike.
class RuntimeView {
 public:
  virtual ~RuntimeView() = default;
  virtual double now() const = 0;                                    ///< seconds from the start of the run
  virtual double expected_free(WorkerId worker) const = 0;           ///< when its running task ends
  virtual bool is_valid(DataId data, MemoryId memory) const = 0;     ///< a copy is there
  virtual bool is_arriving(DataId data, MemoryId memory) const = 0;  ///< a transfer to there is under way
  virtual void prefetch(TaskId task, MemoryId memory) = 0;           ///< start moving the inputs of a task
};

/// An online policy. The engine calls, under one lock: ready() once for each task when all its predecessors
/// are done, pick() when a worker is idle, done() when a task ends. Ties are broken by task id.
class OnlinePolicy {
 public:
  virtual ~OnlinePolicy() = default;
  virtual void begin(const SchedulingProblem& problem, RuntimeView& view) = 0;
  virtual void ready(TaskId task) = 0;
  /// A ready task for this worker, or kNoTask. Each ready task is given out once.
  virtual TaskId pick(WorkerId worker) = 0;
  virtual void done(TaskId task, WorkerId worker) = 0;
};

}  // namespace espalier
