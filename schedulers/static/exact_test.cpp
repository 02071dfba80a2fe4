#include "schedulers/static/exact.hpp"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

#include "schedulers/common/bounds.hpp"
#include "schedulers/common/instance.hpp"
#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/static/exact/search_problem.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

/// The optimum by trying every order with every allocation, each task as soon as it can.
double by_enumeration(const SchedulingProblem& problem) {
  const Instance instance(problem);
  const auto n = static_cast<TaskId>(instance.tasks());
  std::vector<PartialSchedule::Slot> slots(n);
  std::vector<double> free(instance.workers(), 0);
  double best = Instance::infinity();
  const std::function<void(TaskId, double)> extend = [&](TaskId placed, double makespan) {
    if (makespan >= best) return;
    if (placed == n) {
      best = makespan;
      return;
    }
    for (TaskId t = 0; t < n; ++t) {
      if (slots[t].worker != kNoWorker) continue;
      const auto inputs = instance.inputs(t);
      if (std::any_of(inputs.begin(), inputs.end(),
                      [&](const auto& e) { return slots[e.task].worker == kNoWorker; }))
        continue;
      for (WorkerId w = 0; w < instance.workers(); ++w) {
        const double before = free[w];
        double start = before;
        for (const auto& [u, bytes] : inputs)
          start =
              std::max(start, slots[u].finish + instance.transfer(bytes, instance.memory_of(slots[u].worker),
                                                                  instance.memory_of(w)));
        slots[t] = {w, start, start + instance.seconds(t, w)};
        free[w] = slots[t].finish;
        extend(placed + 1, std::max(makespan, slots[t].finish));
        free[w] = before;
        slots[t] = {};
      }
    }
  };
  extend(0, 0);
  return best;
}

TEST(Exact, EqualsEnumerationOnUnrelatedWorkersWithTransfers) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto instance = test::random_case(4 + seed % 3, 2 + seed % 2, 0.45, seed % 4 * 12, seed);
    const SchedulingProblem problem = instance.problem(30);
    const Plan plan = make_exact()->schedule(problem);
    validate(plan, problem);
    EXPECT_TRUE(plan.proven_optimal) << seed;
    EXPECT_DOUBLE_EQ(plan.makespan, by_enumeration(problem)) << seed;
    EXPECT_DOUBLE_EQ(plan.lower_bound, plan.makespan) << seed;
  }
}

// The search alone, without the first plan that may already be optimal.
TEST(Exact, SearchFindsTheOptimumWithoutAStart) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<double> times;
    std::vector<test::WeightedEdge> edges;
    const auto n = static_cast<TaskId>(4 + seed % 3);
    for (TaskId t = 0; t < n; ++t) {
      times.push_back(static_cast<double>(1 + random() % 5));
      for (TaskId u = 0; u < t; ++u)
        if (random() % 5 < 2) edges.push_back({u, t, static_cast<std::int64_t>(random() % 9)});
    }
    const auto instance = test::identical_case(times, edges, 2 + seed % 2);
    const SchedulingProblem problem = instance.problem();
    const Instance compact(problem);
    const SearchProblem search(compact);
    SearchLimits limits;
    limits.nodes = 2000000;
    limits.seconds = 60;
    const SearchResult found =
        branch_and_bound(search, std::accumulate(times.begin(), times.end(), 0) + 1, limits);
    const double optimum = by_enumeration(problem);
    EXPECT_TRUE(found.complete);
    EXPECT_EQ(static_cast<double>(found.makespan), optimum) << seed;
    EXPECT_LE(static_cast<double>(search.bound), optimum) << seed;
  }
}

// With three equal tasks on two workers the area is 1.5 but no schedule is below 2.
TEST(Exact, RoundsBoundsOfWholeTimesUp) {
  const auto instance = test::identical_case({1, 1, 1}, {}, 2);
  const Plan plan = make_exact()->schedule(instance.problem());
  EXPECT_TRUE(plan.proven_optimal);
  EXPECT_DOUBLE_EQ(plan.makespan, 2);
}

}  // namespace
}  // namespace espalier
