#pragma once

#include <cstdint>
#include <vector>

#include "runtime/model/event_queue.hpp"
#include "runtime/model/planned_transfers.hpp"
#include "runtime/model/replicas.hpp"
#include "runtime/model/simulate.hpp"
#include "runtime/model/task_source.hpp"
#include "runtime/model/transfers.hpp"

namespace espalier::model {

/// The discrete-event loop. A worker holds the task that runs and the few that were given to it next; these
/// are staged in order: room for their data is found (all or nothing, first come first served in a memory,
/// which is why no two tasks can wait for each other), copies that are missing are moved, and the first one
/// starts when the worker is free and its data are there.
class Engine final : public RuntimeView {
 public:
  Engine(const SchedulingProblem& problem, const SimulationOptions& options, TaskSource& source);
  Trace run();

  double now() const override { return now_; }
  double expected_free(WorkerId worker) const override;
  bool is_valid(DataId data, MemoryId memory) const override { return replicas_.valid(data, memory); }
  bool is_arriving(DataId data, MemoryId memory) const override { return replicas_.arriving(data, memory); }
  void prefetch(TaskId task, MemoryId memory) override;

 private:
  struct Staged {
    TaskId task;
    std::uint32_t missing = 0;  ///< inputs on their way
    bool placed = false;        ///< its room is there
    bool queued = false;        ///< waits in line for room
    double memory_ready = 0, data_ready = 0;
  };
  struct WorkerState {
    TaskId running = kNoTask;
    KindId kind = 0;
    MemoryId memory = 0;
    std::uint8_t most = 1;  ///< tasks held at a time, with the one that runs
    double end = 0;         ///< expected end of the one that runs
    double queued = 0;      ///< expected time of the others
    TaskEvent event{};
    std::vector<Staged> staged;
    std::size_t held() const { return staged.size() + (running != kNoTask ? 1U : 0U); }
  };

  // engine.cpp: the loop
  void prepare();
  void begin_data();
  void make_ready(TaskId task);
  void handle(const Event& event);
  void finish_task(WorkerId w);
  void dispatch();
  void feed(WorkerId w);
  void advance(WorkerId w);
  void start(WorkerId w);
  double duration(TaskId task, KindId kind) const;
  void sample_memory();

  // engine_data.cpp: copies, transfers, room
  void require_room() const;
  bool place(WorkerId w, Staged& staged);
  bool find_room(MemoryId m, std::int64_t bytes, TaskId task);
  void evict(DataId d, MemoryId m, TaskId task);
  bool make_room_by_dropping(MemoryId m, std::int64_t bytes);
  void fetch(DataId d, MemoryId m, const Waiter* waiter, double key);
  MemoryId nearest_copy(DataId d, MemoryId m) const;
  void arrive(TransferId id);
  void written(DataId d, MemoryId m);
  void last_use(DataId d);
  void push_outputs(TaskId task, MemoryId m);
  void retire(DataId d);
  void serve_room_queue(MemoryId m);
  double eviction_key(DataId d, MemoryId m);

  // engine_planned.cpp: transfers that the plan chose
  void begin_planned();
  void try_planned(std::uint32_t index);
  bool await_planned(DataId d, MemoryId m, const Waiter* waiter);
  /// The bytes of a copy that is on its way, or will be, are accounted for.
  bool coming(DataId d, MemoryId m) const {
    return replicas_.arriving(d, m) || planned_moves_.reserved(d, m);
  }

  const TaskGraph& graph_;
  const Platform& platform_;
  const SchedulingProblem& problem_;
  SimulationOptions options_;
  TaskSource& source_;
  EventQueue events_;
  Replicas replicas_;
  Transfers transfers_;
  PlannedTransfers planned_moves_;
  std::vector<std::uint32_t> missing_, uses_left_;
  std::vector<double> ready_time_;
  std::vector<WorkerState> workers_;
  std::vector<WorkerId> woken_;  ///< to be advanced after this time's events
  std::vector<MemoryId> backing_;
  std::vector<std::int64_t> leaving_;            ///< bytes being written back, by memory
  std::vector<std::vector<Waiter>> room_queue_;  ///< by memory
  std::vector<std::int64_t> sampled_;
  std::size_t available_ = 0;  ///< ready and not given out
  std::size_t left_ = 0;
  double now_ = 0, finish_ = 0, clock_ = 0;
  bool any_bounded_ = false, planned_ = false;
  Trace trace_;
};

}  // namespace espalier::model
