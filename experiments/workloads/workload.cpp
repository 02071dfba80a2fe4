#include "experiments/workloads/workload.hpp"

#include <fmt/format.h>
#include <limits>

#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"
#include "runtime/perfmodel/fitted/all_reduce_costs.hpp"
#include "runtime/task_graph/micro_batches.hpp"
#include "runtime/task_graph/network_tasks.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier {
namespace {

/// The processors of identical:P have no rates: where a graph has no times, 10^9 flop take one unit.
class UnitProcessor final : public CostModel {
 public:
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override {
    if (kind.type != DeviceType::other || kind.peak_flops > 0) return std::nullopt;
    return Estimate{Seconds(what.flops.value / 1e9), CostSource::given};
  }
};

/// Binds a training step: no pass folds what is trained.
NetworkUnits training_units(const Graph& network, const LayerTable& layers, std::int64_t batch,
                            std::int64_t micro_batch) {
  NetworkUnits units;
  const auto add = [&](std::int64_t samples) {
    units.variants.push_back(
        std::make_shared<const Graph>(bind(network, layers, with_batch(network, {}, samples))));
  };
  add(micro_batch);
  units.units.assign(static_cast<std::size_t>(batch / micro_batch), 0);
  if (batch % micro_batch != 0) {
    add(batch % micro_batch);
    units.units.push_back(1);
  }
  return units;
}

NetworkUnits inference_units(const Graph& network, const LayerTable& layers, std::int64_t batch,
                             std::int64_t micro_batch) {
  const MicroBatches cut = cut_batch(network, layers, {}, batch, micro_batch);
  NetworkUnits units;
  for (const auto& v : cut.variants) units.variants.push_back(v.graph);
  units.units = cut.units;
  return units;
}

TaskGraph network_graph(const std::string& name, const WorkloadOptions& options) {
  const LayerTable& layers = all_layers();
  const NetworkSource source = load_network(name, layers);
  const std::int64_t batch = std::max<std::int64_t>(1, options.batch);
  if (batch > kLargestBatch)
    throw InputError(fmt::format("--batch {}: at most {} is accepted", batch, kLargestBatch));
  if (options.micro_batches > batch)
    throw InputError(fmt::format("{} micro-batches of a batch of {}: at most as many as there are samples",
                                 options.micro_batches, batch));
  if (options.micro_batches > 1)
    if (const BatchAxes axes = find_batch_axes(source.graph, layers, {}); !axes.can_cut())
      throw InputError(fmt::format("{}: the batch cannot be cut into micro-batches: {}", name, axes.reason));
  const std::int64_t micro_batch = (batch + options.micro_batches - 1) / options.micro_batches;
  const bool training = options.training.value_or(false);
  NetworkUnits units = training ? training_units(source.graph, layers, batch, micro_batch)
                                : inference_units(source.graph, layers, batch, micro_batch);
  units.samples = static_cast<double>(batch);
  NetworkTaskOptions tasks;
  tasks.training = training;
  tasks.replicas = options.replicas;
  tasks.split = options.split;
  tasks.all_reduce = options.all_reduce;
  TaskGraph graph = network_tasks(units, layers, tasks);
  graph.name = source.name;
  return graph;
}

}  // namespace

CostTable Workload::costs(const Platform& platform) const {
  choice.require(platform);
  const fitted::AllReduceCosts collectives(choice.all_reduces(), platform);
  std::vector<const CostModel*> in_order = {&collectives};
  for (const auto& m : models) in_order.push_back(m.get());
  CostTable table = make_cost_table(graph, platform, in_order);
  table.require_runnable(graph, platform);
  return table;
}

Workload load_workload(const std::string& graph, const WorkloadOptions& options) {
  Workload workload;
  if (options.micro_batches < 1 || options.micro_batches > std::numeric_limits<int>::max())
    throw InputError(fmt::format("{} micro-batches: at least 1 is needed", options.micro_batches));
  if (kind_of_graph(graph) != GraphKind::task_graph) {
    workload.graph = network_graph(graph, options);
  } else {
    TaskGraphOptions source;
    source.training = options.training.value_or(true);
    source.micro_batches = static_cast<int>(options.micro_batches);
    LoadedTaskGraph loaded = load_task_graph(graph, source);
    workload.graph = std::move(loaded.graph);
    if (loaded.given) workload.models.push_back(loaded.given);
  }
  workload.choice = CostChoice(options.costs);
  if (workload.models.empty())
    workload.models = workload.choice.models(graph);
  else
    workload.choice.require_given(graph);
  workload.models.push_back(std::make_shared<UnitProcessor>());
  return workload;
}

}  // namespace espalier
