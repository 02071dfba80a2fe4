#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/model/simulate.hpp"
#include "schedulers/common/bounds.hpp"
#include "schedulers/scheduler_list.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

using test::named_case;
using test::ProblemCase;

double makespan(const ProblemCase& c, const char* scheduler, std::uint64_t seed = 0) {
  return simulate(c.problem(1, seed), *scheduler_named(scheduler).make_online()).makespan;
}

TEST(Greedy, AllRunAllTasksNeverBelowTheBoundAndAlike) {
  for (const auto& [graph, machine] :
       {std::pair{"cholesky:8", "node-2cpu-4gpu"}, std::pair{"lu:5", "dgx-1"},
        std::pair{"layered:8,width=12,ccr=0.5", "identical:5"},
        std::pair{"random:120,degree=3", "identical:3"}, std::pair{"qr:5", "hetero-2v100-2p100"}}) {
    const ProblemCase c = named_case(graph, machine);
    const double bound = lower_bounds(c.problem()).best();
    for (const SchedulerEntry& s : all_schedulers()) {
      if (s.make_online == nullptr) continue;
      SCOPED_TRACE(std::string(graph) + " " + std::string(s.name));
      const auto policy = s.make_online();
      const Trace t = simulate(c.problem(1, 3), *policy);
      EXPECT_EQ(t.tasks.size(), c.graph.task_count());
      EXPECT_GE(t.makespan, bound * (1 - 1e-9));
      EXPECT_EQ(simulate(c.problem(1, 3), *policy).makespan, t.makespan);  // the same object once more
    }
  }
}

TEST(Greedy, EagerIsListSchedulingOnOneProcessor) {
  const ProblemCase c = named_case("layered:4,width=5", "identical:1");
  double sum = 0;
  for (TaskId t = 0; t < c.graph.task_count(); ++t) sum += c.costs.seconds(c.graph.task(t).cost_class, 0);
  EXPECT_DOUBLE_EQ(makespan(c, "eager"), sum);
}

TEST(Greedy, DataAwareOnesBeatBlindOnesWhereDataAreExpensive) {
  const ProblemCase c = named_case("cholesky:16", "node-2cpu-4gpu");
  EXPECT_LT(makespan(c, "dmda"), makespan(c, "eager"));
  EXPECT_LT(makespan(c, "dmdas"), makespan(c, "random"));
  EXPECT_LT(makespan(c, "affinity_eager"), makespan(c, "eager"));
}

TEST(Greedy, RandomFollowsItsSeed) {
  const ProblemCase c = named_case("cholesky:8", "node-2cpu-4gpu");
  EXPECT_EQ(makespan(c, "random", 1), makespan(c, "random", 1));
  EXPECT_NE(makespan(c, "random", 1), makespan(c, "random", 2));
}

}  // namespace
}  // namespace espalier
