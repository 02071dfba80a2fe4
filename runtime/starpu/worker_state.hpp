#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <vector>

#include "graphs/ir/layer.hpp"
#include "runtime/platform/host_memory.hpp"
#include "runtime/task_graph/network_program.hpp"
#include "runtime/trace/trace.hpp"

namespace espalier::starpu {

/// What one worker owns: its kernels (a Kernel is not thread-safe), its scratch memory and its counters. Only
/// the worker's own thread touches it while tasks run. Aligned, so that counters do not share a cache line.
struct alignas(128) WorkerState {
  std::vector<std::vector<std::unique_ptr<Kernel>>> kernels;  ///< by variant and node; null for aliases
  HostMemory scratch;                                         ///< values first, then the kernel's own
  std::int64_t kernel_scratch_offset = 0;
  std::vector<const void*> pieces;  ///< arrays of addresses, long enough for every segment and node
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  double kernel_seconds = 0;
  std::uint64_t tasks = 0;
  bool record = false;
  std::vector<TaskEvent> events;  ///< start and end as read from the clock
};

/// Makes the kernels of every variant. InputError when no implementation applies to a node.
void prepare_kernels(WorkerState& state, const NetworkProgram& program, const LayerTable& layers,
                     WeightCache& weights, const KernelOptions& options);
/// Bytes of scratch memory that the prepared kernels and the program's segments need.
std::int64_t scratch_bytes(const WorkerState& state, const NetworkProgram& program);
/// Allocates the scratch memory; on the worker's own thread, so that it is near.
void allocate_scratch(WorkerState& state, const NetworkProgram& program);

/// Runs the calls of a segment; `pieces` are the addresses of the segment's accesses in order.
void run_segment(const Variant& variant, std::size_t variant_index, const Segment& segment,
                 const void* const* pieces, WorkerState& state);

/// The first failure of a run, kept for the thread that waits.
class Failure {
 public:
  bool happened() const { return happened_.load(std::memory_order_relaxed); }
  /// Called in a catch block.
  void capture(const std::string& where);
  /// Throws it, if there was one, and forgets it.
  void rethrow();

 private:
  std::atomic<bool> happened_{false};
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace espalier::starpu
