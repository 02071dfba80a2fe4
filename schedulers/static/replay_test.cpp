#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/platform/platform_source.hpp"
#include "runtime/task_graph/sources/source.hpp"
#include "schedulers/scheduler_list.hpp"
#include "schedulers/static/judge.hpp"

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
  SchedulingProblem problem() const { return {loaded.graph, platform, costs, 3, Seconds(0.05)}; }
};

// With the run's own transfers, started no sooner than there, nothing can come later than in the run.
TEST(Replay, APlanOfAPolicysRunTakesNoLongerThanTheRun) {
  for (const auto& [graph, machine] :
       {std::pair{"cholesky:9", "node-2cpu-4gpu"}, std::pair{"lu:6", "dgx-1"},
        std::pair{"qr:6", "hetero-2v100-2p100"}, std::pair{"cholesky:7", "cluster-4x-2cpu-4gpu"},
        std::pair{"random:120,degree=3", "identical:3"}}) {
    const Case c(graph, machine);
    for (const SchedulerEntry& s : all_schedulers()) {
      if (s.make_online == nullptr) continue;
      SCOPED_TRACE(std::string(graph) + " on " + machine + ": " + std::string(s.name));
      const Trace run = simulate(c.problem(), *s.make_online());
      const Plan plan = plan_of_trace(c.problem(), run, s.name);
      const Trace again = simulate(c.problem(), plan);
      EXPECT_LE(again.makespan, run.makespan * (1 + 1e-9));
      EXPECT_EQ(again.transfers.size(), run.transfers.size());
    }
  }
}

TEST(Replay, BestIsNeverWorseThanAPolicy) {
  for (const auto& [graph, machine] : {std::pair{"cholesky:9", "node-2cpu-4gpu"}, std::pair{"lu:5", "dgx-1"},
                                       std::pair{"qr:5", "hetero-2v100-2p100"}}) {
    const Case c(graph, machine);
    const double best =
        simulate(c.problem(), scheduler_named("best").make_static()->schedule(c.problem())).makespan;
    for (const SchedulerEntry& s : all_schedulers()) {
      if (s.make_online == nullptr) continue;
      EXPECT_LE(best, simulate(c.problem(), *s.make_online()).makespan * (1 + 1e-9))
          << graph << " " << s.name;
    }
  }
}

}  // namespace
}  // namespace espalier
