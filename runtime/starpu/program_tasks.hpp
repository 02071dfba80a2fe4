#pragma once

#include <memory>
#include <span>
#include <vector>

#include "runtime/starpu/codelets.hpp"
#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/session_options.hpp"
#include "runtime/starpu/statistics.hpp"
#include "runtime/starpu/task_accesses.hpp"
#include "runtime/starpu/worker_state.hpp"

namespace espalier::starpu {

/// Creates and submits one task; StarPU owns and recycles its structure. `name` must outlive the run.
void submit_task(starpu_codelet* codelet, TaskBody& body, std::span<const HandleAccess> accesses,
                 int priority, const char* name);

double seconds_now();

/// A lowered program made ready on StarPU: memory and handles of every slot and micro-batch, kernels and
/// scratch of every worker, and the body of every task. Shared by batches (NetworkSession) and streams.
class ProgramTasks {
 public:
  /// InputError when the memory is not there or a node has no implementation.
  ProgramTasks(Machine& machine, std::shared_ptr<const NetworkProgram> program, const LayerTable& layers,
               const SessionOptions& options);
  ~ProgramTasks();
  ProgramTasks(const ProgramTasks&) = delete;
  ProgramTasks& operator=(const ProgramTasks&) = delete;

  const NetworkProgram& program() const { return *program_; }
  const Variant& variant_of(std::uint32_t unit) const {
    return program_->variants[program_->units[unit].variant];
  }
  /// Submits the tasks of one micro-batch. The greater priority runs sooner.
  void submit(std::uint32_t unit, int priority);

  std::byte* input(std::uint32_t unit, std::size_t k) const { return io_[unit][k]; }
  std::byte* output(std::uint32_t unit, std::size_t k) const {
    return io_[unit][variant_of(unit).graph->inputs.size() + k];
  }
  /// Handles of a micro-batch's inputs, one each, then of its outputs, one or more each.
  std::span<const starpu_data_handle_t> io_handles(std::uint32_t unit) const { return io_handles_[unit]; }

  bool stopped() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }
  Failure& failure() { return failure_; }
  WorkerState& worker(unsigned id) { return *workers_[id]; }
  void reset_statistics();
  RunStatistics statistics() const;
  /// Events of all workers since the last reset, by end time, as seconds after `origin`.
  std::vector<TaskEvent> events(double origin) const;

 private:
  class SegmentBody;
  void prepare_workers(const LayerTable& layers);
  void allocate();
  void make_bodies();
  std::int64_t piece_bytes(const Piece& piece) const;
  starpu_data_handle_t register_memory(std::byte* data, std::int64_t bytes);

  Machine& machine_;
  std::shared_ptr<const NetworkProgram> program_;
  SessionOptions options_;
  std::unique_ptr<WeightCache> weights_;
  std::vector<std::unique_ptr<WorkerState>> workers_;
  Failure failure_;
  HostMemory memory_;
  std::vector<std::vector<std::byte*>> io_;                    ///< by unit: inputs, then outputs
  std::vector<std::vector<starpu_data_handle_t>> io_handles_;  ///< by unit
  std::vector<std::vector<starpu_data_handle_t>> handles_;     ///< by unit and piece
  std::vector<starpu_data_handle_t> registered_;
  std::vector<std::vector<SegmentBody>> bodies_;  ///< by unit and segment
  std::vector<HandleAccess> accesses_;            ///< of the task being submitted
};

}  // namespace espalier::starpu
