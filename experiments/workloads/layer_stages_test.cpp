#include "experiments/workloads/layer_stages.hpp"

#include <gtest/gtest.h>
#include <set>

#include "experiments/workloads/workload.hpp"
#include "graphs/base/error.hpp"
#include "runtime/model/simulate.hpp"
#include "runtime/platform/platform_source.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

WorkloadOptions training() {
  WorkloadOptions o;
  o.training = true;
  o.batch = 8;
  o.micro_batches = 4;
  return o;
}

// 2 V100 and 2 P100: four stages in order, each layer on one device, the faster ones with more of the time.
TEST(LayerStages, EachLayerRunsOnItsStagesDevice) {
  Workload w = load_workload("alexnet", training());
  Platform platform = platform_named("hetero-2v100-2p100");
  CostTable costs = w.costs(platform);
  const std::size_t tasks = w.graph.task_count(), data = w.graph.data_count(), edges = w.graph.edge_count();
  place_by_layers(w.graph, platform, costs);
  EXPECT_EQ(w.graph.task_count(), tasks);
  EXPECT_EQ(w.graph.data_count(), data);
  EXPECT_EQ(w.graph.edge_count(), edges);
  const SchedulingProblem problem{w.graph, platform, costs};
  for (const char* name : {"dmdas", "eager"}) {
    const Trace trace = simulate(problem, *scheduler_named(name).make_online());
    std::vector<std::set<WorkerId>> where(w.graph.layer_names.size());
    for (const TaskEvent& e : trace.tasks)
      if (const std::int32_t layer = w.graph.task(e.task).layer; layer >= 0)
        where[static_cast<std::size_t>(layer)].insert(e.worker);
    WorkerId last = 0;
    std::set<WorkerId> used;
    for (const auto& workers : where) {
      if (workers.empty()) continue;
      ASSERT_EQ(workers.size(), 1U);
      EXPECT_GE(*workers.begin(), last);
      last = *workers.begin();
      used.insert(last);
    }
    EXPECT_GE(used.size(), 3U);
  }
}

TEST(LayerStages, AGraphWithoutLayersIsRefused) {
  Workload w = load_workload("cholesky:4");
  Platform platform = platform_named("node-2cpu-4gpu");
  CostTable costs = w.costs(platform);
  EXPECT_THROW(place_by_layers(w.graph, platform, costs), InputError);
}

}  // namespace
}  // namespace espalier
