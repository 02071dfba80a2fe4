#include "experiments/run/prepare_program.hpp"

#include <algorithm>
#include <cmath>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/lower.hpp"
#include "runtime/task_graph/micro_batches.hpp"
#include "runtime/task_graph/segment.hpp"

namespace espalier {
namespace {

constexpr double kUnitSeconds = 0.3e-3;  ///< a micro-batch shorter than this is mostly the runtime's work

/// The size that makes a micro-batch of `samples` samples and `seconds` long enough, every worker still
/// having one.
std::int64_t enlarged(std::int64_t samples, double seconds, std::int64_t batch, unsigned workers) {
  const double factor = std::ceil(kUnitSeconds / std::max(seconds, 1e-9));
  const std::int64_t share = (batch + workers - 1) / std::max(1U, workers);
  return std::max(samples, factor >= static_cast<double>(share)
                               ? share
                               : std::min(share, samples * static_cast<std::int64_t>(factor)));
}

/// Cuts the network; a size of 0 is chosen by the time of a micro-batch.
MicroBatches cut_with(const Graph& network, const LayerTable& layers, const RunRequest& request,
                      const Binding& binding, std::int64_t batch, unsigned workers) {
  const bool chosen = request.micro_batch == 0;
  const std::int64_t first =
      chosen ? choose_micro_batch(batch, workers, weight_bytes(network)) : request.micro_batch;
  const BatchCut where = find_cut(network, layers, binding, batch);
  MicroBatches cut = cut_batch(network, layers, binding, batch, first, where);
  if (!chosen || cut.units.size() <= workers) return cut;
  double seconds = 0;
  for (const double s : estimate_node_seconds(*cut.variants[0].graph, layers, first, {})) seconds += s;
  const std::int64_t larger = enlarged(first, seconds, batch, workers);
  return larger > first ? cut_batch(network, layers, binding, batch, larger, where) : std::move(cut);
}

/// Integer inputs whose values are given become constants where shapes depend on them.
MicroBatches cut_network(const Graph& network, const LayerTable& layers, const RunRequest& request,
                         unsigned workers) {
  std::int64_t batch = request.batch;
  Binding binding = binding_for(network, request.inputs, request.dims, batch);
  try {
    return cut_with(network, layers, request, binding, batch, workers);
  } catch (const InputError&) {
    for (const auto& [name, tensor] : request.inputs)
      if (!is_float(tensor.dtype()) && tensor.elements() <= 4096) binding.values[name] = tensor;
    if (binding.values.empty()) throw;
    return cut_with(network, layers, request, binding, batch, workers);
  }
}

}  // namespace

unsigned workers_for(unsigned cores) {
  return std::min(cores != 0 ? cores : starpu::machine_cores(), starpu::library_core_limit());
}

PreparedProgram prepare_program(const Graph& network, const LayerTable& layers, const RunRequest& request) {
  PreparedProgram prepared;
  prepared.workers = workers_for(request.machine.cores);
  const MicroBatches cut = cut_network(network, layers, request, prepared.workers);
  LoweringOptions lowering;
  lowering.workers = prepared.workers;
  // each worker has one micro-batch under way and one at hand
  lowering.slots =
      std::min<std::uint32_t>(static_cast<std::uint32_t>(cut.units.size()), 2 * prepared.workers);
  lowering.target_seconds = request.task_seconds > 0
                                ? request.task_seconds
                                : choose_task_seconds(cut.units.size(), prepared.workers);
  prepared.program = std::make_shared<const NetworkProgram>(lower(cut, layers, lowering));
  prepared.batch = cut.batch;
  prepared.uncut_because = cut.uncut_because;
  prepared.micro_batch = cut.variants[0].samples;
  prepared.micro_batches = static_cast<std::uint32_t>(cut.units.size());
  return prepared;
}

}  // namespace espalier
