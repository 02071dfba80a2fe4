#pragma once

#include <memory>
#include <span>

#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/session_options.hpp"
#include "runtime/starpu/statistics.hpp"
#include "runtime/task_graph/network_program.hpp"
#include "runtime/trace/trace.hpp"

namespace espalier::starpu {

class ProgramTasks;

/// A lowered program that runs batch after batch on this machine. Everything is allocated and prepared by the
/// constructor; run() only submits tasks. Not thread-safe; the machine must outlive it.
class NetworkSession {
 public:
  /// InputError when the batch does not fit into memory (says how much is needed) or a node has no
  /// implementation.
  NetworkSession(Machine& machine, std::shared_ptr<const NetworkProgram> program, const LayerTable& layers,
                 const SessionOptions& options = {});
  ~NetworkSession();

  const NetworkProgram& program() const;
  /// The type of an input or output of the whole batch.
  TensorType input_type(std::size_t k) const;
  TensorType output_type(std::size_t k) const;
  /// Copies an input of the whole batch in. InputError names the input, its type and the type given.
  void set_input(std::size_t k, const Tensor& value);
  Tensor output(std::size_t k) const;
  /// Memory of input k of one micro-batch, to be written in place between runs.
  std::span<std::byte> input_memory(std::uint32_t unit, std::size_t k);

  /// Who decides from the next run on; null: StarPU's policy.
  void set_driver(TaskDriver* driver) { driver_ = driver; }
  /// One batch. Throws what a kernel threw: InputError for data that it refuses, DeviceError otherwise.
  RunStatistics run();
  /// Events of the last run; needs SessionOptions::record_trace.
  Trace trace() const;

 private:
  Machine& machine_;
  TaskDriver* driver_;
  std::unique_ptr<ProgramTasks> tasks_;
  double origin_ = 0, makespan_ = 0;
};

}  // namespace espalier::starpu
