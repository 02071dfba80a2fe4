#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/model/simulate.hpp"
#include "runtime/platform/platform_source.hpp"
#include "runtime/task_graph/sources/source.hpp"
#include "schedulers/common/bounds.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

struct Case {
  LoadedTaskGraph loaded;
  Platform platform;
  CostTable costs;
  Case(const std::string& graph, const std::string& machine)
      : loaded(load_task_graph(graph)), platform(platform_named(machine, loaded.graph.unit_less)) {
    const RooflineModel roofline;
    std::vector<const CostModel*> models;
    if (loaded.given) models.push_back(loaded.given.get());
    models.push_back(&roofline);
    costs = make_cost_table(loaded.graph, platform, models);
  }
  SchedulingProblem problem(std::uint64_t seed = 0) const { return {loaded.graph, platform, costs, seed}; }
  double makespan(const char* scheduler, std::uint64_t seed = 0) const {
    return simulate(problem(seed), *scheduler_named(scheduler).make_online()).makespan;
  }
};

TEST(Greedy, AllRunAllTasksNeverBelowTheBoundAndAlike) {
  for (const auto& [graph, machine] :
       {std::pair{"cholesky:8", "node-2cpu-4gpu"}, std::pair{"lu:5", "dgx-1"},
        std::pair{"layered:8,width=12,ccr=0.5", "identical:5"},
        std::pair{"random:120,degree=3", "identical:3"}, std::pair{"qr:5", "hetero-2v100-2p100"}}) {
    const Case c(graph, machine);
    const double bound = lower_bounds(c.problem()).best();
    for (const SchedulerEntry& s : all_schedulers()) {
      if (s.make_online == nullptr) continue;
      SCOPED_TRACE(std::string(graph) + " " + std::string(s.name));
      const auto policy = s.make_online();
      const Trace t = simulate(c.problem(3), *policy);
      EXPECT_EQ(t.tasks.size(), c.loaded.graph.task_count());
      EXPECT_GE(t.makespan, bound * (1 - 1e-9));
      EXPECT_EQ(simulate(c.problem(3), *policy).makespan, t.makespan);  // the same object once more
    }
  }
}

TEST(Greedy, EagerIsListSchedulingOnOneProcessor) {
  const Case c("layered:4,width=5", "identical:1");
  double sum = 0;
  for (TaskId t = 0; t < c.loaded.graph.task_count(); ++t)
    sum += c.costs.seconds(c.loaded.graph.task(t).cost_class, 0);
  EXPECT_DOUBLE_EQ(c.makespan("eager"), sum);
}

TEST(Greedy, DataAwareOnesBeatBlindOnesWhereDataAreExpensive) {
  const Case c("cholesky:16", "node-2cpu-4gpu");
  EXPECT_LT(c.makespan("dmda"), c.makespan("eager"));
  EXPECT_LT(c.makespan("dmdas"), c.makespan("random"));
  EXPECT_LT(c.makespan("affinity_eager"), c.makespan("eager"));
}

TEST(Greedy, RandomFollowsItsSeed) {
  const Case c("cholesky:8", "node-2cpu-4gpu");
  EXPECT_EQ(c.makespan("random", 1), c.makespan("random", 1));
  EXPECT_NE(c.makespan("random", 1), c.makespan("random", 2));
}

}  // namespace
}  // namespace espalier
