#include "experiments/workloads/workload.hpp"

#include <fmt/format.h>
#include <limits>

#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
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

}  // namespace

CostTable Workload::costs(const Platform& platform) const {
  std::vector<const CostModel*> in_order;
  for (const auto& m : models) in_order.push_back(m.get());
  CostTable table = make_cost_table(graph, platform, in_order);
  table.require_runnable(graph, platform);
  return table;
}

Workload load_workload(const std::string& graph, const WorkloadOptions& options) {
  Workload workload;
  if (kind_of_graph(graph) != GraphKind::task_graph)
    throw InputError(fmt::format("{}: networks on simulated platforms are not served yet", graph));
  TaskGraphOptions source;
  source.training = options.training.value_or(true);
  if (options.micro_batches < 1 || options.micro_batches > std::numeric_limits<int>::max())
    throw InputError(fmt::format("{} micro-batches: at least 1 is needed", options.micro_batches));
  source.micro_batches = static_cast<int>(options.micro_batches);
  LoadedTaskGraph loaded = load_task_graph(graph, source);
  workload.graph = std::move(loaded.graph);
  if (loaded.given)
    workload.models.push_back(loaded.given);
  else
    workload.models.push_back(std::make_shared<RooflineModel>());
  workload.models.push_back(std::make_shared<UnitProcessor>());
  return workload;
}

}  // namespace espalier
