#include "runtime/task_graph/micro_batches.hpp"

#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/host_memory.hpp"

namespace espalier {
namespace {

/// Inputs and outputs of all micro-batches are in memory together.
void require_io_memory(const Graph& part, std::int64_t batch, std::int64_t parts) {
  double bytes = 0;
  for (const auto* side : {&part.inputs, &part.outputs})
    for (const ValueId v : *side) bytes += static_cast<double>(part.type(v).bytes());
  bytes *= static_cast<double>(parts);
  require_memory(bytes > 9e18 ? std::int64_t{7} << 60 : static_cast<std::int64_t>(bytes),
                 fmt::format("a batch of {}", batch));
}

}  // namespace

BatchCut find_cut(const Graph& network, const LayerTable& layers, const Binding& binding,
                  std::int64_t batch) {
  BatchCut where;
  if (batch > 1) where.axes = find_batch_axes(network, layers, binding);
  if (!where.axes.can_cut()) {
    where.uncut_because = where.axes.reason;
    where.axes = axes_of_one_sample(network, layers, binding);
    where.sample_by_sample = where.axes.can_cut();
  }
  return where;
}

MicroBatches cut_batch(const Graph& network, const LayerTable& layers, const Binding& binding,
                       std::int64_t batch, std::int64_t micro_batch) {
  return cut_batch(network, layers, binding, batch, micro_batch, find_cut(network, layers, binding, batch));
}

MicroBatches cut_batch(const Graph& network, const LayerTable& layers, const Binding& binding,
                       std::int64_t batch, std::int64_t micro_batch, const BatchCut& where) {
  MicroBatches cut;
  cut.batch = batch;
  cut.uncut_because = where.uncut_because;
  if (where.sample_by_sample) micro_batch = 1;
  const auto add = [&](std::int64_t samples) {
    Graph bound = bind(network, layers, with_batch(network, binding, samples));
    optimise(bound, layers);
    cut.variants.push_back({std::make_shared<const Graph>(std::move(bound)), samples});
  };
  if (batch == 1 || !where.axes.can_cut() || micro_batch <= 0 || micro_batch >= batch) {
    add(batch);
    cut.units.push_back(0);
    cut.input_axes.assign(cut.variants[0].graph->inputs.size(), -1);
    cut.output_axes.assign(cut.variants[0].graph->outputs.size(), -1);
    return cut;
  }
  cut.input_axes = where.axes.inputs;
  cut.output_axes = where.axes.outputs;
  add(micro_batch);
  require_io_memory(*cut.variants[0].graph, batch, batch / micro_batch);
  cut.units.assign(static_cast<std::size_t>(batch / micro_batch), 0);
  if (batch % micro_batch != 0) {
    add(batch % micro_batch);
    cut.units.push_back(1);
  }
  return cut;
}

}  // namespace espalier
