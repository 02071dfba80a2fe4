#include "runtime/perfmodel/fitted/fitted_costs.hpp"

#include <cmath>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"

namespace espalier::fitted {
namespace {

using testing::HasSubstr;

DeviceKind kind(const std::string& name, double peak = 0, double bandwidth = 0, const std::string& costs = {},
                bool scaled = false) {
  DeviceKind k;
  k.name = name;
  k.type = DeviceType::cuda;
  k.peak_flops = peak;
  k.memory_bandwidth = bandwidth;
  k.costs = costs;
  k.costs_scaled = scaled;
  return k;
}

CostClassInfo conv(int batch, const std::string& codelet = "conv2d_forward") {
  const double flops = 2.0 * batch * 28 * 28 * 128 * 9 * 128;
  return {codelet,
          fmt::format(
              "Conv [pads=1,1,1,1] (float32 [{0}, 28, 28, 128], float32 [128, 128, 3, 3]) -> (float32 [{0}, "
              "28, 28, 128])",
              batch),
          Flops(flops), Bytes(4 * 2 * batch * 28 * 28 * 128), 0};
}

const FittedCosts& shipped() {
  static const FittedCosts costs(shipped_model());
  return costs;
}

TEST(DeviceMatch, ByNamePrecisionAndHint) {
  const auto& devices = shipped().devices();
  const auto of = [&](const std::string& name) {
    const auto match = match_device(kind(name), devices);
    return match ? match->device : "none";
  };
  EXPECT_EQ(of("v100-pcie"), "NV_V100/fp32");
  EXPECT_EQ(of("v100-sxm2-32gb"), "NV_V100/fp32");
  EXPECT_EQ(of("V100"), "NV_V100/fp32");
  EXPECT_EQ(of("p100-pcie"), "NV_P100/fp32");
  EXPECT_EQ(of("t4"), "NV_T4/fp32");
  EXPECT_EQ(of("1080ti"), "NV_1080Ti/fp32");
  EXPECT_EQ(of("titan-x"), "NV_TitanX/fp32");
  EXPECT_EQ(of("titan-xp"), "NV_TitanXp/fp32");
  EXPECT_EQ(of("titan-x-pascal"), "NV_TitanX_Pascal/fp32");
  EXPECT_EQ(of("m40"), "NV_M40/fp32");
  EXPECT_EQ(of("mi25"), "AMD_MI25/fp32");
  EXPECT_EQ(of("vega-fe"), "AMD_VegaFE/fp32");
  EXPECT_EQ(of("knl-7250"), "IA_KNL7250/fp32");
  EXPECT_EQ(of("xeon-6130-core"), "none");
  EXPECT_EQ(of("cpu-core"), "none");
  EXPECT_EQ(of(""), "none");
  EXPECT_EQ(of("-"), "none");
  EXPECT_EQ(match_device(kind("mine", 0, 0, "NV_V100/fp16_mixed"), devices)->device, "NV_V100/fp16_mixed");
}

TEST(DeviceMatch, NewerOnesAreScaledByPublishedPeaks) {
  const auto& devices = shipped().devices();
  const auto a100 = match_device(kind("a100-sxm4", 19.5e12, 1555e9), devices);
  ASSERT_TRUE(a100);
  EXPECT_TRUE(a100->scaled);
  EXPECT_NEAR(a100->flops_ratio, 19.5 / 15.7, 1e-9);
  EXPECT_NEAR(a100->bandwidth_ratio, 1555.0 / 900, 1e-9);
  EXPECT_FALSE(match_device(kind("a100-sxm4"), devices));  // without peaks there is nothing to scale by
  EXPECT_TRUE(match_device(kind("other", 1e12, 1e11, "NV_T4/fp32", true), devices)->scaled);
}

TEST(DeviceMatch, RefusesUnknownHints) {
  const auto& devices = shipped().devices();
  try {
    match_device(kind("mine", 0, 0, "NV_V1000/fp32"), devices);
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(),
                testing::AllOf(HasSubstr("mine"), HasSubstr("NV_V1000"), HasSubstr("NV_V100/fp32")));
  }
  EXPECT_THROW(match_device(kind("mine", 0, 0, "NV_V100/fp32", true), devices), InputError);
}

TEST(FittedCosts, ShippedDevicesAnswerWithTheirErrors) {
  for (const std::string device :
       {"NV_V100/fp32", "NV_P100/fp32", "NV_T4/fp32", "NV_1080Ti/fp32", "NV_TitanX/fp32", "NV_TitanXp/fp32",
        "NV_TitanX_Pascal/fp32", "NV_M40/fp32", "AMD_MI25/fp32", "AMD_VegaFE/fp32", "IA_KNL7250/fp32",
        "NV_V100/fp16_mixed", "NV_T4/fp16_mixed", "NV_P100/fp16_pseudo"})
    for (const char* codelet : {"conv2d_forward", "conv2d_backward_input", "conv2d_backward_weight"}) {
      const auto e = shipped().estimate(conv(16, codelet), kind("x", 0, 0, device));
      ASSERT_TRUE(e) << device;
      EXPECT_EQ(e->basis.source, CostSource::fitted) << device;
      EXPECT_GT(e->basis.error, 0.02);
      EXPECT_LT(e->basis.error, 0.25);
      EXPECT_THAT(e->basis.text, HasSubstr(device));
      // 3.7 Gflop: between 50 us (tensor cores) and 20 ms
      EXPECT_GT(e->time.value, 3e-5) << device << codelet;
      EXPECT_LT(e->time.value, 2e-2) << device << codelet;
    }
}

TEST(FittedCosts, BeyondTheMeasuredTimeIsInProportion) {
  const auto large = shipped().estimate(conv(512), kind("v100-pcie"));
  const auto larger = shipped().estimate(conv(1024), kind("v100-pcie"));
  ASSERT_TRUE(large && larger);
  EXPECT_EQ(large->basis.source, CostSource::extrapolated);
  EXPECT_TRUE(std::isnan(large->basis.error));
  EXPECT_NEAR(larger->time.value / large->time.value, 2, 1e-6);
}

TEST(FittedCosts, ScaledDevicesAreExtrapolated) {
  const auto v100 = shipped().estimate(conv(16), kind("v100-sxm2"));
  const auto a100 = shipped().estimate(conv(16), kind("a100-sxm4", 19.5e12, 1555e9));
  ASSERT_TRUE(v100 && a100);
  EXPECT_EQ(a100->basis.source, CostSource::extrapolated);
  // bound by arithmetic: 19.5 / 15.7 as fast
  EXPECT_NEAR(v100->time.value / a100->time.value, 19.5 / 15.7, 1e-9);
}

TEST(FittedCosts, OtherLayersAreChargedWithTheBandwidth) {
  const CostClassInfo relu{"relu_forward", "Relu [] (float32 [1, 8]) -> (float32 [1, 8])", Flops(1e6),
                           Bytes(800'000'000), 0};
  const auto e = shipped().estimate(relu, kind("v100-pcie", 14e12, 900e9));
  ASSERT_TRUE(e);
  EXPECT_EQ(e->basis.source, CostSource::fitted);
  // 0.8 GB between half and all of the published 900 GB/s
  EXPECT_GT(e->time.value, 0.8 / 900);
  EXPECT_LT(e->time.value, 0.8 / 450);
  CostClassInfo heavy = relu;
  heavy.flops = Flops(1e15);
  EXPECT_FALSE(shipped().estimate(heavy, kind("v100-pcie", 14e12, 900e9)));
  EXPECT_FALSE(shipped().estimate(relu, kind("xeon-6130-core", 67e9, 8e9)));
}

TEST(FittedCosts, ShippedModelsAreSmall) {
  std::size_t bytes = 0;
  for (const ShippedModel& m : shipped_models()) bytes += m.json.size();
  EXPECT_GT(bytes, 10'000U);
  EXPECT_LT(bytes, 400'000U);
  EXPECT_GE(shipped_model()->all_reduces.size(), 6U);
}

}  // namespace
}  // namespace espalier::fitted
