#include "runtime/task_graph/memory_plan.hpp"

#include <gtest/gtest.h>
#include <random>

namespace espalier {
namespace {

TEST(OffsetPlan, ReusesAGapThatFits) {
  // a [0,2] of 64, b [0,1] of 128, c [2,3] of 128: c takes b's place: 64 + 128 bytes
  const std::vector<Lifetime> values{{64, 0, 2}, {128, 0, 1}, {128, 2, 3}};
  EXPECT_EQ(plan_offsets(values).bytes, 192);
}

TEST(OffsetPlan, ValuesAliveTogetherNeverOverlap) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Lifetime> values;
    std::int64_t sum = 0;
    for (int i = 0; i < 40; ++i) {
      const auto first = static_cast<std::int32_t>(random() % 30);
      values.push_back({static_cast<std::int64_t>(random() % 1000), first,
                        first + static_cast<std::int32_t>(random() % 6)});
      sum += values.back().bytes + 64;
    }
    const OffsetPlan plan = plan_offsets(values);
    EXPECT_LE(plan.bytes, sum);
    for (std::size_t a = 0; a < values.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + values[a].bytes, plan.bytes);
      for (std::size_t b = 0; b < a; ++b) {
        if (values[a].last < values[b].first || values[b].last < values[a].first) continue;
        EXPECT_TRUE(plan.offsets[a] + values[a].bytes <= plan.offsets[b] ||
                    plan.offsets[b] + values[b].bytes <= plan.offsets[a]);
      }
    }
  }
}

TEST(BufferPlan, SharesAlongAChainButNotAcrossBranches) {
  // 0 -> 1 -> 2 -> 3: the value of 0 (read by 1) is free when 2 writes: two buffers for the chain
  const Reachability chain({{}, {0}, {1}, {2}});
  const std::vector<SharedValue> line{{100, {0}, {1}}, {100, {1}, {2}}, {100, {2}, {3}}};
  EXPECT_EQ(plan_buffers(line, chain).bytes.size(), 2U);
  // 0 -> 1, 0 -> 2: the branches may run at the same time, so their values keep apart
  const Reachability fork({{}, {0}, {0}, {1, 2}});
  const std::vector<SharedValue> branches{{100, {0}, {1, 2}}, {100, {1}, {3}}, {100, {2}, {3}}};
  EXPECT_EQ(plan_buffers(branches, fork).bytes.size(), 3U);
}

}  // namespace
}  // namespace espalier
