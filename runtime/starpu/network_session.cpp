#include "runtime/starpu/network_session.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/starpu/core_waits.hpp"
#include "runtime/starpu/program_tasks.hpp"
#include "runtime/starpu/task_driver.hpp"

namespace espalier::starpu {
namespace {

/// Copies between a whole tensor and the part of it that starts at `first` along `axis`; axis -1: all of it.
void copy_part(const std::byte* from, std::byte* to, const TensorType& part, std::int64_t whole_extent,
               int axis, std::int64_t first, bool into_part) {
  if (axis < 0) {
    std::memcpy(to, from, static_cast<std::size_t>(part.bytes()));
    return;
  }
  const std::int64_t inner =
      part.shape.elements(axis + 1, part.shape.rank()) * static_cast<std::int64_t>(size_of(part.dtype));
  const std::int64_t run = part.shape[axis] * inner;
  for (std::int64_t o = 0; o < part.shape.elements(0, axis); ++o) {
    const std::int64_t in_whole = (o * whole_extent + first) * inner;
    const std::int64_t in_part = o * run;
    std::memcpy(to + (into_part ? in_part : in_whole), from + (into_part ? in_whole : in_part),
                static_cast<std::size_t>(run));
  }
}

TensorType whole_type(TensorType part, int axis, std::int64_t batch) {
  if (axis >= 0) part.shape[axis] = batch;
  return part;
}

}  // namespace

NetworkSession::NetworkSession(Machine& machine, std::shared_ptr<const NetworkProgram> program,
                               const LayerTable& layers, const SessionOptions& options)
    : machine_(machine),
      driver_(options.driver),
      tasks_(std::make_unique<ProgramTasks>(machine, std::move(program), layers, options)) {}

NetworkSession::~NetworkSession() = default;

const NetworkProgram& NetworkSession::program() const {
  return tasks_->program();
}

TensorType NetworkSession::input_type(std::size_t k) const {
  const Graph& g = *program().variants[0].graph;
  return whole_type(g.type(g.inputs.at(k)), program().input_axes[k], program().batch);
}

TensorType NetworkSession::output_type(std::size_t k) const {
  const Graph& g = *program().variants[0].graph;
  return whole_type(g.type(g.outputs.at(k)), program().output_axes[k], program().batch);
}

void NetworkSession::set_input(std::size_t k, const Tensor& value) {
  const TensorType need = input_type(k);
  const Graph& g = *program().variants[0].graph;
  if (value.type() != need)
    throw InputError(fmt::format("input {}: {} was given, {} is needed",
                                 g.values[static_cast<std::size_t>(g.inputs[k])].name,
                                 value.type().to_string(), need.to_string()));
  const int axis = program().input_axes[k];
  for (std::uint32_t u = 0; u < program().units.size(); ++u) {
    const Graph& part = *tasks_->variant_of(u).graph;
    copy_part(static_cast<const std::byte*>(value.data()), tasks_->input(u, k), part.type(part.inputs[k]),
              program().batch, axis, program().units[u].first_sample, true);
  }
}

Tensor NetworkSession::output(std::size_t k) const {
  const TensorType type = output_type(k);
  Tensor whole(type.dtype, type.shape);
  for (std::uint32_t u = 0; u < program().units.size(); ++u) {
    const Graph& part = *tasks_->variant_of(u).graph;
    copy_part(tasks_->output(u, k), static_cast<std::byte*>(whole.mutable_data()), part.type(part.outputs[k]),
              program().batch, program().output_axes[k], program().units[u].first_sample, false);
  }
  return whole;
}

std::span<std::byte> NetworkSession::input_memory(std::uint32_t unit, std::size_t k) {
  const Graph& g = *tasks_->variant_of(unit).graph;
  return {tasks_->input(unit, k), static_cast<std::size_t>(g.type(g.inputs.at(k)).bytes())};
}

RunStatistics NetworkSession::run() {
  const auto units = static_cast<std::uint32_t>(program().units.size());
  tasks_->reset_statistics();
  const Machine::Work work;
  Machine::Drive drive(driver_);
  const double waited = seconds_waited_for_cores();
  origin_ = seconds_now();
  std::uint32_t submitted = 0;
  for (; submitted < units && !tasks_->stopped(); ++submitted)
    tasks_->submit(submitted, static_cast<int>(std::min<std::uint32_t>(units - submitted, 1U << 30)));
  if (submitted < units) drive.release();
  starpu_task_wait_for_all();
  makespan_ = seconds_now() - origin_;
  tasks_->failure().rethrow();
  if (driver_ != nullptr && driver_->error() != nullptr) std::rethrow_exception(driver_->error());
  RunStatistics statistics = tasks_->statistics();
  statistics.makespan = makespan_;
  statistics.waited_for_cores = seconds_waited_for_cores() - waited;
  statistics.interrupted = tasks_->stopped();
  return statistics;
}

Trace NetworkSession::trace() const {
  Trace trace;
  trace.engine = "starpu";
  trace.scheduler = driver_ != nullptr ? driver_->name() : "starpu:" + machine_.policy();
  trace.makespan = makespan_;
  trace.tasks = tasks_->events(origin_);
  trace.peak_memory = {peak_memory()};
  return trace;
}

}  // namespace espalier::starpu
