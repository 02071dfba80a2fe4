#include "experiments/workloads/layer_stages.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

std::vector<WorkerId> devices_of(const Platform& platform) {
  std::vector<WorkerId> devices, all;
  for (WorkerId w = 0; w < platform.workers.size(); ++w) {
    all.push_back(w);
    if (platform.kinds[platform.workers[w].kind].type == DeviceType::cuda) devices.push_back(w);
  }
  return devices.empty() ? all : devices;
}

/// Seconds of each layer's tasks on a kind; what it cannot run counts nothing.
std::vector<double> layer_seconds(const TaskGraph& graph, const CostTable& costs, KindId kind) {
  std::vector<double> seconds(graph.layer_names.size(), 0);
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    const Task& task = graph.task(t);
    if (task.layer >= 0 && costs.can_run(task.cost_class, kind))
      seconds[static_cast<std::size_t>(task.layer)] += costs.seconds(task.cost_class, kind);
  }
  return seconds;
}

/// Stage of each layer: the devices take shares of the time in proportion to their speeds, a layer goes where
/// its middle lies.
std::vector<std::size_t> stages_of(const TaskGraph& graph, const Platform& platform, const CostTable& costs,
                                   const std::vector<WorkerId>& devices) {
  std::vector<double> until, share(graph.layer_names.size(), 0);
  double speed = 0;
  for (const WorkerId w : devices) {
    const std::vector<double> seconds = layer_seconds(graph, costs, platform.workers[w].kind);
    double all = 0;
    for (const double s : seconds) all += s;
    until.push_back(speed += all > 0 ? 1 / all : 0);
    for (std::size_t l = 0; l < share.size(); ++l) share[l] += all > 0 ? seconds[l] / all : 0;
  }
  double total = 0, before = 0;
  for (const double s : share) total += s;
  std::vector<std::size_t> stage(share.size(), 0);
  for (std::size_t l = 0; l < share.size() && total > 0; ++l) {
    const double middle = (before + share[l] / 2) / total * speed;
    before += share[l];
    stage[l] =
        static_cast<std::size_t>(std::lower_bound(until.begin(), until.end() - 1, middle) - until.begin());
  }
  return stage;
}

struct Staged {
  TaskGraph graph;
  std::vector<CostClass> class_before;  ///< by new class
  std::vector<std::size_t> stage;       ///< by new class
};

/// The same tasks, data and dependencies; classes tell the stage.
Staged with_stages(const TaskGraph& graph, const std::vector<std::size_t>& stage_of_layer, std::size_t last) {
  Staged out;
  TaskGraphBuilder builder;
  builder.graph().name = graph.name;
  builder.graph().samples = graph.samples;
  builder.graph().unit_less = graph.unit_less;
  for (const std::string& name : graph.layer_names) builder.add_layer(name);
  for (DataId d = 0; d < graph.data_count(); ++d) builder.add_data(graph.data(d));
  std::map<std::pair<CostClass, std::size_t>, CostClass> classes;
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    Task task = graph.task(t);
    const std::size_t stage = task.layer < 0 ? last : stage_of_layer[static_cast<std::size_t>(task.layer)];
    const std::pair key{task.cost_class, stage};
    auto found = classes.find(key);
    if (found == classes.end()) {
      CostClassInfo info = graph.classes[task.cost_class];
      info.signature += fmt::format(" stage {}", stage);
      info.footprint = 0;
      found = classes.emplace(key, builder.add_class(std::move(info))).first;
      out.class_before.push_back(task.cost_class);
      out.stage.push_back(stage);
    }
    task.cost_class = found->second;
    builder.add_task(task, graph.accesses(t), graph.task_name(t));
    for (const TaskId p : graph.predecessors(t)) builder.add_dependency(p, t);
  }
  out.graph = builder.build();
  return out;
}

}  // namespace

void place_by_layers(TaskGraph& graph, Platform& platform, CostTable& costs) {
  if (graph.layer_names.empty())
    throw InputError(fmt::format(
        "--model-parallel layers: graph {} has no layers; a network or an ONNX file is needed", graph.name));
  const std::vector<WorkerId> devices = devices_of(platform);
  const std::vector<std::size_t> stage_of_layer = stages_of(graph, platform, costs, devices);
  Staged staged = with_stages(graph, stage_of_layer, devices.size() - 1);
  std::vector<KindId> kind_before(platform.kinds.size());
  for (KindId k = 0; k < kind_before.size(); ++k) kind_before[k] = k;
  for (const WorkerId w : devices) {
    Worker& worker = platform.workers[w];
    DeviceKind own = platform.kinds[worker.kind];
    own.name += fmt::format(" of {}", worker.name);
    kind_before.push_back(worker.kind);
    worker.kind = static_cast<KindId>(platform.kinds.size());
    platform.kinds.push_back(std::move(own));
  }
  CostTable table(staged.graph.classes.size(), platform.kinds.size());
  for (CostClass c = 0; c < staged.stage.size(); ++c) {
    const KindId kind = platform.workers[devices[staged.stage[c]]].kind;
    const CostClass before = staged.class_before[c];
    if (!costs.can_run(before, kind_before[kind]))
      throw InputError(fmt::format("--model-parallel layers: {} of stage {} cannot run on {}",
                                   staged.graph.classes[c].codelet, staged.stage[c],
                                   platform.workers[devices[staged.stage[c]]].name));
    table.set(c, kind, Seconds(costs.seconds(before, kind_before[kind])),
              costs.source(before, kind_before[kind]));
  }
  graph = std::move(staged.graph);
  costs = std::move(table);
}

}  // namespace espalier
