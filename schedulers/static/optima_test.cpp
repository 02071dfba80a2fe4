#include "tests/support/optima.hpp"

#include <gtest/gtest.h>

#include "schedulers/common/bounds.hpp"
#include "schedulers/scheduler_list.hpp"
#include "tests/support/shared_data.hpp"

namespace espalier {
namespace {

constexpr double kRounding = 1e-9;
constexpr double kUntilProven = 600;  // seconds; a slow or busy machine must not decide

Plan plan_of(const char* scheduler, const test::ProblemCase& instance, double seconds) {
  const SchedulingProblem problem = instance.problem(seconds);
  Plan plan = scheduler_named(scheduler).make_static()->schedule(problem);
  validate(plan, problem);
  return plan;
}

// Every 6th graph of 50 tasks on 2, 4, 8 and 16 processors: no bound above the optimum, no schedule below it;
// where the optimum is known it is found and proven.
TEST(Optima, StandardTaskGraphs) {
  ESPALIER_SHARED_OR_SKIP(folder, "data/stg");
  for (const std::size_t workers : {2, 4, 8, 16}) {
    const auto rows = test::read_optima(folder / ("optimal_p" + std::to_string(workers) + ".csv"));
    ASSERT_FALSE(rows.empty());
    for (std::size_t i = workers % 5; i < rows.size(); i += 6) {
      const auto& row = rows[i];
      SCOPED_TRACE(row.graph + " on " + std::to_string(workers));
      const auto instance = test::identical_file_case(folder / row.graph, workers);
      EXPECT_LE(lower_bounds(instance.problem()).best(), row.upper + kRounding);
      EXPECT_GE(plan_of("heft_topcuoglu2002", instance, 1).makespan, row.lower - kRounding);
      const Plan plan = plan_of("exact", instance, row.closed() ? kUntilProven : 0.1);
      EXPECT_GE(plan.makespan, row.lower - kRounding);
      EXPECT_LE(plan.lower_bound, row.upper + kRounding);
      if (!row.closed()) continue;
      EXPECT_TRUE(plan.proven_optimal);
      EXPECT_NEAR(plan.makespan, row.upper, kRounding);
    }
  }
}

struct TransferCase {
  const char* file;
  std::size_t workers;
  double optimum;
};

// Edge weights are paid between different processors; optima by exhaustive search, published with the graphs.
TEST(Optima, GraphsWithTransfers) {
  ESPALIER_SHARED_OR_SKIP(folder, "data/dag-optimal");
  for (const TransferCase& c : {TransferCase{"Nodes_7_OutTree.dot", 2, 28},
                                {"Nodes_7_OutTree.dot", 4, 22},
                                {"Nodes_8_Random.dot", 2, 581},
                                {"Nodes_8_Random.dot", 4, 581},
                                {"Nodes_9_SeriesParallel.dot", 2, 55},
                                {"Nodes_9_SeriesParallel.dot", 4, 55}}) {
    SCOPED_TRACE(c.file);
    const auto instance = test::identical_file_case(folder / c.file, c.workers);
    for (const char* scheduler : {"exact", "best"}) {
      const Plan plan = plan_of(scheduler, instance, kUntilProven);
      EXPECT_TRUE(plan.proven_optimal) << scheduler;
      EXPECT_NEAR(plan.makespan, c.optimum, kRounding) << scheduler;
    }
  }
}

}  // namespace
}  // namespace espalier
