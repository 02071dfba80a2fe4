#include "runtime/starpu/worker_state.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

#include "graphs/base/error.hpp"

namespace espalier::starpu {
namespace {

std::int64_t kernel_scratch(const WorkerState& state) {
  std::size_t bytes = 0;
  for (const auto& variant : state.kernels)
    for (const auto& kernel : variant)
      if (kernel != nullptr) bytes = std::max(bytes, kernel->scratch_bytes());
  return static_cast<std::int64_t>(bytes);
}

std::int64_t value_scratch(const NetworkProgram& program) {
  std::int64_t bytes = 0;
  for (const Variant& v : program.variants) bytes = std::max(bytes, v.scratch_bytes);
  return (bytes + 63) / 64 * 64;
}

}  // namespace

void prepare_kernels(WorkerState& state, const NetworkProgram& program, const LayerTable& layers,
                     WeightCache& weights, const KernelOptions& options) {
  PrepareContext context{weights, options};
  std::size_t pieces = 1, inputs = 1, outputs = 1;
  for (const Variant& variant : program.variants) {
    auto& kernels = state.kernels.emplace_back(variant.graph->nodes.size());
    for (const Segment& segment : variant.segments) {
      pieces = std::max(pieces, segment.accesses.size());
      for (const Call& call : segment.calls) {
        inputs = std::max(inputs, call.inputs.size());
        outputs = std::max(outputs, call.outputs.size());
        if (call.node < 0) continue;
        const auto n = static_cast<std::size_t>(call.node);
        kernels[n] = prepare_kernel(layers, *variant.graph, variant.graph->nodes[n], context);
      }
    }
  }
  state.pieces.resize(pieces);
  state.inputs.resize(inputs);
  state.outputs.resize(outputs);
}

std::int64_t scratch_bytes(const WorkerState& state, const NetworkProgram& program) {
  return value_scratch(program) + kernel_scratch(state);
}

void allocate_scratch(WorkerState& state, const NetworkProgram& program) {
  state.kernel_scratch_offset = value_scratch(program);
  state.scratch = HostMemory(scratch_bytes(state, program));
}

void run_segment(const Variant& variant, std::size_t variant_index, const Segment& segment,
                 const void* const* pieces, WorkerState& state) {
  const auto address = [&](const Location& l) -> std::byte* {
    switch (l.kind) {
      case Location::Kind::absent:
        return nullptr;
      case Location::Kind::constant:  // kernels only read it
        return static_cast<std::byte*>(const_cast<void*>(variant.graph->values[l.index].constant->data())) +
               l.offset;
      case Location::Kind::access:
        return static_cast<std::byte*>(const_cast<void*>(pieces[l.index])) + l.offset;
      case Location::Kind::scratch:
        return state.scratch.data() + l.offset;
    }
    return nullptr;
  };
  for (const Call& call : segment.calls) {
    if (call.node < 0) {
      std::memcpy(address(call.outputs[0]), address(call.inputs[0]),
                  static_cast<std::size_t>(call.copy_bytes));
      continue;
    }
    for (std::size_t i = 0; i < call.inputs.size(); ++i) state.inputs[i] = address(call.inputs[i]);
    for (std::size_t i = 0; i < call.outputs.size(); ++i) state.outputs[i] = address(call.outputs[i]);
    try {
      state.kernels[variant_index][static_cast<std::size_t>(call.node)]->run(
          {{state.inputs.data(), call.inputs.size()},
           {state.outputs.data(), call.outputs.size()},
           state.scratch.data() + state.kernel_scratch_offset});
    } catch (const InputError& e) {
      const Node& node = variant.graph->nodes[static_cast<std::size_t>(call.node)];
      throw InputError(fmt::format("node {} ({}): {}", node.name, node.op, e.what()));
    } catch (const std::exception& e) {
      const Node& node = variant.graph->nodes[static_cast<std::size_t>(call.node)];
      throw DeviceError(fmt::format("node {} ({}): {}", node.name, node.op, e.what()));
    }
  }
}

void Failure::capture(const std::string& where) {
  const std::lock_guard lock(mutex_);
  if (first_ == nullptr) {
    try {
      throw;
    } catch (const InputError&) {
      first_ = std::current_exception();
    } catch (const DeviceError&) {
      first_ = std::current_exception();
    } catch (const std::exception& e) {
      first_ = std::make_exception_ptr(DeviceError(fmt::format("{}: {}", where, e.what())));
    } catch (...) {
      first_ = std::make_exception_ptr(DeviceError(where + ": an exception of an unknown kind"));
    }
  }
  happened_ = true;
}

void Failure::rethrow() {
  const std::lock_guard lock(mutex_);
  happened_ = false;
  if (const auto e = std::exchange(first_, nullptr)) std::rethrow_exception(e);
}

}  // namespace espalier::starpu
