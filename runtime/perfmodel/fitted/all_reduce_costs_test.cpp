#include "runtime/perfmodel/fitted/all_reduce_costs.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "runtime/perfmodel/fitted/fitted_costs.hpp"
#include "runtime/platform/platform_source.hpp"

namespace espalier::fitted {
namespace {

CostClassInfo reduction(double bytes, int copies) {
  return {"gradient_all_reduce", fmt::format("{} bytes of {} replicas", bytes, copies), Flops(0), Bytes(0),
          0};
}

const DeviceKind& gpu_of(const Platform& p) {
  return p.kinds[p.workers[gpus_of(p).at(0)].kind];
}

TEST(AllReduceCosts, MeasuredSystemOnNvlink) {
  const Platform p = platform_named("dgx-1", false);
  const AllReduceCosts costs(shipped_model(), p);
  const auto e = costs.estimate(reduction(1e8, 8), gpu_of(p));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->basis.source, CostSource::fitted);
  EXPECT_EQ(e->basis.text, "all-reduce of v100_8gpu");
  EXPECT_LT(e->basis.error, 0.05);
  // published fit: 46.6 us + 2 x 7/8 x 1e8 / 134.9 GB/s = 1.344 ms
  EXPECT_NEAR(e->time.value, 1.344e-3, 0.05e-3);
}

TEST(AllReduceCosts, MeasuredWhereASystemFits) {
  for (const auto& [name, measured] : {std::pair{"dgx-1", true},
                                       {"8xa100", true},
                                       {"node-2cpu-4gpu", false},
                                       {"hetero-2v100-2p100", false},
                                       {"cpu-8", false}}) {
    const Platform p = platform_named(name, false);
    EXPECT_EQ(AllReduceCosts(shipped_model(), p).measured(), measured) << name;
    EXPECT_FALSE(AllReduceCosts(nullptr, p).measured()) << name;
  }
}

TEST(AllReduceCosts, AnotherNumberOfDevicesIsExtrapolated) {
  const Platform p = platform_named("dgx-1", false);
  const auto e = AllReduceCosts(shipped_model(), p).estimate(reduction(1e8, 6), gpu_of(p));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->basis.source, CostSource::extrapolated);
  EXPECT_TRUE(std::isnan(e->basis.error));
}

TEST(AllReduceCosts, RingOverPcie) {
  const Platform p = platform_named("node-2cpu-4gpu", false);
  const auto e = AllReduceCosts(shipped_model(), p).estimate(reduction(12e6, 4), gpu_of(p));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->basis.source, CostSource::roofline);
  // gpu0 -> gpu1 -> gpu2 -> gpu3 -> gpu0: no link is crossed twice in one direction; the longest hop goes
  // gpu1, plx0, main, plx1, gpu2: 3 + 5 + 5 + 3 us. 2 x 3 x (16 us + 3e6 / 12e9)
  EXPECT_NEAR(e->time.value, 6 * (16e-6 + 250e-6), 1e-9);
  // eight copies on four GPUs: each adds one of its two, 3 x 12e6 bytes at half of 900 GB/s
  const auto eight = AllReduceCosts(shipped_model(), p).estimate(reduction(12e6, 8), gpu_of(p));
  EXPECT_NEAR(eight->time.value - e->time.value, 36e6 / 450e9, 1e-9);
}

TEST(AllReduceCosts, CpusDoNotRunIt) {
  const Platform p = platform_named("node-2cpu-4gpu", false);
  const AllReduceCosts costs(nullptr, p);
  EXPECT_TRUE(std::isinf(costs.estimate(reduction(1e6, 4), p.kinds[p.workers[0].kind])->time.value));
  const Platform cpus = platform_named("cpu-8", false);
  EXPECT_FALSE(AllReduceCosts(nullptr, cpus).estimate(reduction(1e6, 4), cpus.kinds[0]));
  EXPECT_FALSE(costs.estimate({"gradient_sum", "8 bytes", Flops(0), Bytes(0), 0}, gpu_of(p)));
  for (const char* bad : {"", "x bytes of 4 replicas", "-1 bytes of 4 replicas", "8 bytes of 0 replicas"})
    EXPECT_FALSE(costs.estimate({"gradient_all_reduce", bad, Flops(0), Bytes(0), 0}, gpu_of(p))) << bad;
}

}  // namespace
}  // namespace espalier::fitted
