#include "experiments/compare/critical_chain.hpp"

#include <gtest/gtest.h>

#include "experiments/simulate/simulation.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

TEST(CriticalChain, GoesThroughTransferPredecessorAndWorker) {
  // 0 -> 2 with 3 bytes at 1 byte/s; 1 runs before 0 on worker 0
  const auto c = test::identical_case({2, 1, 4}, {{0, 2, 3}}, 2);
  Trace trace;
  trace.engine = "model";
  // worker 0: task 1 in [0, 1], task 0 in [1, 3]; the datum moves in [3, 6]; worker 1: task 2 in [6, 10]
  trace.makespan = 10;
  trace.tasks = {{1, 0, 0, 1, 0, 0, 0}, {0, 0, 1, 3, 0, 0, 0}, {2, 1, 6, 10, 3, 6, 3}};
  const MemoryId from = c.platform.workers[0].memory, to = c.platform.workers[1].memory;
  DataId moved = 0;
  for (const Access& a : c.graph.accesses(2))
    if (reads(a.mode)) moved = a.data;
  trace.transfers = {{moved, from, to, 3, 6}};
  const CriticalChain chain = critical_chain(c.problem(), trace);
  ASSERT_EQ(chain.links.size(), 4U);
  const ChainStep steps[] = {ChainStep::task, ChainStep::task, ChainStep::transfer, ChainStep::task};
  const ChainReason after[] = {ChainReason::begin, ChainReason::worker, ChainReason::predecessor,
                               ChainReason::data};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(chain.links[i].step, steps[i]) << i;
    EXPECT_EQ(chain.links[i].after, after[i]) << i;
  }
  // 1 + 2 + 4 of tasks, 3 of the transfer
  EXPECT_DOUBLE_EQ(chain.task_seconds, 7);
  EXPECT_DOUBLE_EQ(chain.transfer_seconds, 3);
  EXPECT_DOUBLE_EQ(chain.wait_seconds, 0);
}

TEST(CriticalChain, ATaskThatStartsForNoReasonIsPrecededByAWait) {
  const auto c = test::identical_case({1, 1}, {{0, 1, 0}}, 1);
  Trace trace;
  trace.makespan = 4;
  trace.tasks = {{0, 0, 0, 1, 0, 0, 0}, {1, 0, 3, 4, 1, 1, 1}};
  const CriticalChain chain = critical_chain(c.problem(), trace);
  ASSERT_EQ(chain.links.size(), 3U);
  EXPECT_EQ(chain.links[1].step, ChainStep::wait);
  EXPECT_DOUBLE_EQ(chain.wait_seconds, 2);
}

TEST(CriticalChain, AWaitBeforeATransferNamesTheTaskThatItFeeds) {
  // 0 ends at 1; its datum leaves at 3 (others went first) and is there at 6, when 1 starts
  const auto c = test::identical_case({1, 4}, {{0, 1, 3}}, 2);
  const MemoryId from = c.platform.workers[0].memory, to = c.platform.workers[1].memory;
  DataId moved = 0;
  for (const Access& a : c.graph.accesses(1))
    if (reads(a.mode)) moved = a.data;
  Trace trace;
  trace.makespan = 10;
  trace.tasks = {{0, 0, 0, 1, 0, 0, 0}, {1, 1, 6, 10, 1, 6, 1}};
  trace.transfers.assign(5, {static_cast<DataId>(moved + 1), from, to, 1, 2});
  trace.transfers.push_back({moved, from, to, 3, 6});
  const CriticalChain chain = critical_chain(c.problem(), trace);
  ASSERT_EQ(chain.links.size(), 4U);
  EXPECT_EQ(chain.links[1].step, ChainStep::wait);
  EXPECT_EQ(chain.links[1].event, 1U);
  EXPECT_EQ(chain.links[2].step, ChainStep::transfer);
  EXPECT_EQ(chain.links[2].event, 5U);
  EXPECT_DOUBLE_EQ(chain.wait_seconds, 2);
}

TEST(CriticalChain, OfNoTasksIsEmpty) {
  const auto c = test::identical_case({1}, {}, 1);
  EXPECT_TRUE(critical_chain(c.problem(), Trace{}).links.empty());
}

TEST(CriticalChain, IsContiguousFromZeroToTheMakespanOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto c = test::random_case(50, 4, 0.1, 6, seed);
    for (const char* scheduler : {"heft_topcuoglu2002", "dmdas", "eager"}) {
      const SimulationResult result = simulate_scheduler(c.problem(), scheduler);
      const CriticalChain chain = critical_chain(c.problem(), result.trace);
      ASSERT_FALSE(chain.links.empty());
      const double slack = 1e-8 * result.trace.makespan;
      EXPECT_EQ(chain.links.front().start, 0);
      EXPECT_NEAR(chain.links.back().end, result.trace.makespan, slack);
      for (std::size_t i = 1; i < chain.links.size(); ++i)
        EXPECT_NEAR(chain.links[i].start, chain.links[i - 1].end, slack);
      EXPECT_NEAR(chain.task_seconds + chain.transfer_seconds + chain.wait_seconds, result.trace.makespan,
                  slack);
    }
  }
}

}  // namespace
}  // namespace espalier
