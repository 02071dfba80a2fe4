#include "schedulers/common/bounds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "schedulers/scheduler_list.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;

// Two tasks, the first 2 s on kind 0 and 6 s on kind 1, the second 4 s and 4 s. Critical path alone: 4 s.
// Area: task 0 wholly on kind 0, a share a of task 1 there too: 2 + 4 a = 4 (1 - a), a = 1/4, makespan 3.
TEST(Bounds, AreaBalancesKinds) {
  const auto instance = test::unrelated_case({{2, 6}, {4, 4}}, {});
  EXPECT_DOUBLE_EQ(critical_path_bound(instance.problem()), 4);
  EXPECT_NEAR(area_bound(instance.problem()), 3, 1e-9);
}

// A chain of 3 + 3 on one kind or 4 + 1 on the other, with 10 bytes between them: 4 with the fastest kind
// each, but either the whole chain stays (5 on the second kind) or 10 s are paid.
TEST(Bounds, MixedPaysForLeavingAKind) {
  const auto instance = test::unrelated_case({{3, 4}, {3, 1}}, {{0, 1, 10}});
  EXPECT_DOUBLE_EQ(critical_path_bound(instance.problem()), 4);
  EXPECT_NEAR(mixed_bound(instance.problem()), 5, 1e-6);
}

// 5 unit tasks that must all run between 1 and 3 of a critical path of 4, on 2 workers with the path's own
// two units there: 7 units of work in 2 x 2: the path becomes at least 4 + 3/2.
TEST(Bounds, IntervalCountsWhatMustRunTogether) {
  std::vector<test::WeightedEdge> edges{{0, 1, 0}, {1, 2, 0}, {2, 3, 0}};
  for (TaskId t = 4; t < 9; ++t) {
    edges.push_back({0, t, 0});
    edges.push_back({t, 3, 0});
  }
  const auto instance = test::identical_case({1, 1, 1, 1, 1, 1, 1, 1, 1}, edges, 2);
  EXPECT_DOUBLE_EQ(interval_bound(instance.problem()), 5.5);
}

TEST(Bounds, NeverAboveTheOptimum) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto instance = test::random_case(7, 2 + seed % 2, 0.35, seed % 3 * 10, seed);
    const SchedulingProblem problem = instance.problem(600);  // until it is proven
    const Plan plan = scheduler_named("exact").make_static()->schedule(problem);
    ASSERT_TRUE(plan.proven_optimal) << seed;
    const Bounds bounds = lower_bounds(problem);
    EXPECT_LE(bounds.best(), plan.makespan * (1 + 1e-9)) << seed;
    EXPECT_GE(bounds.mixed, bounds.area * (1 - 1e-6)) << seed;
    EXPECT_GE(bounds.area_transfers, bounds.area * (1 - 1e-6)) << seed;
  }
}

// Two GPUs behind one shared bus of 1 byte/s, a CPU beside the data: 6 tasks of 1 s on a GPU and 6 s on the
// CPU, each reading 4 bytes of its own from the host. Area: 6 / (2 + 1/6). With transfers x tasks on the GPUs
// need 4 x s of the bus, 6 - x tasks 6 s each on the CPU: x = 3.6, makespan 14.4.
TEST(Bounds, TransfersLimitWhatKindsCanTake) {
  TaskGraphBuilder b;
  b.add_class({"k", "", Flops(1), Bytes(4), 0});
  for (int t = 0; t < 6; ++t)
    b.add_task({0}, std::vector<Access>{{b.add_data({Bytes(4), 0, false}), AccessMode::read}});
  test::ProblemCase instance{b.build(), {}, {}};
  Platform& p = instance.platform;
  p.kinds.resize(2);
  p.memories.resize(3);
  p.workers = {{"cpu", 0, 0}, {"gpu 0", 1, 1}, {"gpu 1", 1, 2}};
  p.links.push_back({"bus", 1, Seconds(0), true});
  for (MemoryId a = 0; a < 3; ++a)
    for (MemoryId c = 0; c < 3; ++c)
      if (a != c) p.set_route(a, c, {0});
  instance.costs = CostTable(1, 2);
  instance.costs.set(0, 0, Seconds(6), CostSource::given);
  instance.costs.set(0, 1, Seconds(1), CostSource::given);
  EXPECT_NEAR(transfer_bound(instance.problem()), 14.4, 1e-6);
}

class Refusals : public ::testing::Test {
 protected:
  test::ProblemCase instance_ = test::topcuoglu_case();
  Plan plan_ = scheduler_named("heft_topcuoglu2002").make_static()->schedule(instance_.problem());
  void expect_refused(const char* why) {
    try {
      validate(plan_, instance_.problem());
      FAIL() << "accepted; should say " << why;
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), HasSubstr(why));
    }
  }
};

TEST_F(Refusals, NameWhatIsWrong) {
  const Plan good = plan_;
  validate(good, instance_.problem());
  plan_.placements[9].start -= 1;
  plan_.placements[9].finish -= 1;
  expect_refused("before its predecessor");
  plan_ = good;
  plan_.placements[3].finish -= 1;
  expect_refused("but takes");
  plan_ = good;
  plan_.placements[3].worker = kNoWorker;
  expect_refused("is not placed");
  plan_ = good;
  plan_.placements[3].worker = 7;
  expect_refused("is on worker 7");
  plan_ = good;
  plan_.placements[0].position = 5;
  expect_refused("missing or taken twice");
  plan_ = good;
  plan_.graph_fingerprint ^= 1;
  expect_refused("another graph");
  plan_ = good;
  plan_.platform_fingerprint ^= 1;
  expect_refused("another platform");
  plan_ = good;
  plan_.placements.pop_back();
  expect_refused("places 9 tasks");
  plan_ = good;
  plan_.makespan = 10;
  expect_refused("its makespan is 10");
}

TEST(WorkingSet, TooLargeForEveryMemoryIsNamed) {
  auto instance = test::topcuoglu_case();
  for (Memory& m : instance.platform.memories) m.capacity = Bytes(40);
  try {
    scheduler_named("heft_topcuoglu2002").make_static()->schedule(instance.problem());
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("64 bytes"));
    EXPECT_THAT(e.what(), HasSubstr("has 40"));
  }
}

// Either task on its own kind: 1 + 10 bytes at 1 a second + 2 = 13; both on one: 101 or 102.
TEST(Bounds, TheMixedOneCountsTheTransferThatUnlikeDevicesNeed) {
  const auto c = test::unrelated_case({{1, 100}, {100, 2}}, {{0, 1, 10}});
  EXPECT_DOUBLE_EQ(mixed_bound(c.problem()), 13);
}

}  // namespace
}  // namespace espalier
