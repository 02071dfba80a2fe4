#include "experiments/compare/what_if.hpp"

#include <gtest/gtest.h>

#include "experiments/compare/curves.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

Saving named(const Savings& savings, Saving::What what, const std::string& name) {
  for (const Saving& s : savings.tried)
    if (s.what == what && (name.empty() || s.name == name)) return s;
  ADD_FAILURE() << name << " was not tried";
  return {};
}

/// A chain of 8 s and 2 s with 4 bytes at 1 byte/s between two workers that cannot run each other's task.
test::ProblemCase chain_case() {
  const double never = std::numeric_limits<double>::infinity();
  return test::unrelated_case({{8, never}, {never, 2}}, {{0, 1, 4}});
}

TEST(WhatIf, HalvesTheClassesAndTheLinkOfAChain) {
  const auto c = chain_case();
  const SimulationResult result = simulate_scheduler(c.problem(), "heft_topcuoglu2002");
  ASSERT_DOUBLE_EQ(result.trace.makespan, 8 + 4 + 2);
  const Savings savings = what_would_help(c.problem(), result, critical_chain(c.problem(), result.trace));
  // without layers the tasks are grouped by codelet; halving the link saves 2 of 14
  EXPECT_NEAR(named(savings, Saving::What::link, {}).saved, 2.0 / 14, 1e-9);
  EXPECT_EQ(savings.tried.front().what, Saving::What::codelet);
  for (const Saving& s : savings.tried) EXPECT_NEAR(s.saved, 1 - s.makespan / 14, 1e-12);
}

TEST(WhatIf, GroupingKeepsTasksDataAndDependencies) {
  const auto c = test::random_case(30, 3, 0.2, 4, 7);
  const GroupedGraph grouped = group_by_layer(c.graph);
  ASSERT_EQ(grouped.graph.task_count(), c.graph.task_count());
  ASSERT_EQ(grouped.graph.edge_count(), c.graph.edge_count());
  ASSERT_EQ(grouped.class_before.size(), grouped.graph.classes.size());
  for (TaskId t = 0; t < c.graph.task_count(); ++t) {
    EXPECT_EQ(grouped.class_before[grouped.graph.task(t).cost_class], c.graph.task(t).cost_class);
    EXPECT_EQ(grouped.graph.accesses(t).size(), c.graph.accesses(t).size());
  }
}

TEST(Curves, ReadyTasksAndLinksOfAChain) {
  const auto c = chain_case();
  const SimulationResult result = simulate_scheduler(c.problem(), "heft_topcuoglu2002");
  // task 1 is ready in [8, 12] of [0, 14]: with 7 parts of 2 s these are the parts 4 and 5
  const Curves curves = make_curves(c.problem(), result.trace, 7);
  ASSERT_EQ(curves.ready.size(), 7U);
  const double expected[] = {0, 0, 0, 0, 1, 1, 0};
  for (std::size_t i = 0; i < 7; ++i) EXPECT_NEAR(curves.ready[i], expected[i], 1e-9) << i;
  const auto uses = link_use(c.problem(), result.trace);
  ASSERT_EQ(uses.size(), 1U);
  EXPECT_NEAR(uses[0].busy, 4.0 / 14, 1e-9);
}

}  // namespace
}  // namespace espalier
