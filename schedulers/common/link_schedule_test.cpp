#include "schedulers/common/link_schedule.hpp"

#include <gtest/gtest.h>

#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

/// Two tasks on a CPU write 10 bytes each; two tasks read them.
test::ProblemCase two_chains(bool shared) {
  auto c = test::unrelated_case({{1, 100}, {1, 100}, {100, 2}, {100, 2}}, {{0, 2, 10}, {1, 3, 10}});
  c.platform.links[0].shared = shared;
  return c;
}

// Task 0 ends at 1, task 1 at 2; the link carries one byte a second. In turn: 1 .. 11 and 11 .. 21, the last
// task ends at 23. Not shared: 2 .. 12; the second task waits for the worker until 13 and ends at 15.
TEST(LinkSchedule, TransfersTakeTurnsOnASharedLink) {
  for (const bool shared : {true, false}) {
    const auto c = two_chains(shared);
    const auto problem = c.problem();
    const Instance instance(problem);
    LinkSchedule schedule(instance);
    schedule.clear();
    for (TaskId t = 0; t < 4; ++t) ASSERT_TRUE(schedule.place(t, t < 2 ? 0 : 1, {}, 0));
    EXPECT_DOUBLE_EQ(schedule.slots()[2].start, 11);
    EXPECT_DOUBLE_EQ(schedule.slots()[3].finish, shared ? 23 : 15);
    ASSERT_EQ(schedule.transfers().size(), 2U);
    EXPECT_EQ(schedule.transfers()[1].after, 1U);
    EXPECT_DOUBLE_EQ(schedule.transfers()[1].start, shared ? 11 : 2);
  }
}

// Where it is free, a task goes where it ends first: 1 + 10 + 2 = 13 on the second kind, not 1 + 100. With
// its time there counted 60 times it stays.
TEST(LinkSchedule, WeightsChangeTheChoice) {
  const auto c = two_chains(true);
  const auto problem = c.problem();
  const Instance instance(problem);
  LinkSchedule schedule(instance);
  for (const double weight : {1.0, 60.0}) {
    schedule.clear();
    const double weights[] = {1, weight};
    ASSERT_TRUE(schedule.place(0, 0, weights, 0));
    ASSERT_TRUE(schedule.place(2, kAnyPlace, weights, 0));
    EXPECT_EQ(schedule.slots()[2].worker, weight > 1 ? 0 : 1);
  }
}

}  // namespace
}  // namespace espalier
