#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedulers/scheduler_list.hpp"
#include "schedulers/static/judge.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

using test::named_case;
using test::ProblemCase;

// With the run's own transfers, started no sooner than there, nothing can come later than in the run.
TEST(Replay, APlanOfAPolicysRunTakesNoLongerThanTheRun) {
  for (const auto& [graph, machine] :
       {std::pair{"cholesky:9", "node-2cpu-4gpu"}, std::pair{"lu:6", "dgx-1"},
        std::pair{"qr:6", "hetero-2v100-2p100"}, std::pair{"cholesky:7", "cluster-4x-2cpu-4gpu"},
        std::pair{"random:120,degree=3", "identical:3"}}) {
    const ProblemCase c = named_case(graph, machine);
    const SchedulingProblem problem = c.problem(0.05, 3);
    for (const SchedulerEntry& s : all_schedulers()) {
      if (s.make_online == nullptr) continue;
      SCOPED_TRACE(std::string(graph) + " on " + machine + ": " + std::string(s.name));
      const Trace run = simulate(problem, *s.make_online());
      const Plan plan = plan_of_trace(problem, run, s.name);
      const Trace again = simulate(problem, plan);
      EXPECT_LE(again.makespan, run.makespan * (1 + 1e-9));
      EXPECT_EQ(again.transfers.size(), run.transfers.size());
    }
  }
}

TEST(Replay, BestIsNeverWorseThanAPolicy) {
  for (const auto& [graph, machine] : {std::pair{"cholesky:9", "node-2cpu-4gpu"}, std::pair{"lu:5", "dgx-1"},
                                       std::pair{"qr:5", "hetero-2v100-2p100"}}) {
    const ProblemCase c = named_case(graph, machine);
    const SchedulingProblem problem = c.problem(0.05, 3);
    const double best = simulate(problem, scheduler_named("best").make_static()->schedule(problem)).makespan;
    for (const SchedulerEntry& s : all_schedulers()) {
      if (s.make_online == nullptr) continue;
      EXPECT_LE(best, simulate(problem, *s.make_online()).makespan * (1 + 1e-9)) << graph << " " << s.name;
    }
  }
}

}  // namespace
}  // namespace espalier
