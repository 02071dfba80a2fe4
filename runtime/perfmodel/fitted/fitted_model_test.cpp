#include "runtime/perfmodel/fitted/fitted_model.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "graphs/base/error.hpp"

namespace espalier::fitted {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Products on two devices of 10 and 5 Tflop/s, 500 and 400 GB/s, 5 us to start: a time is their sum.
Measurements products() {
  KernelTimes t;
  t.kind = KernelKind::gemm;
  t.devices = {"A/fp32", "B/fp32"};
  for (const double m : {64, 256, 1024})
    for (const double n : {16, 128, 2048})
      for (const double k : {64, 512, 4096}) t.problems.push_back({m, n, k, 0, 0});
  for (const Problem& p : t.problems)
    for (const double speed : {1.0, 0.5}) {
      const double compute = flops_of(t.kind, p) / (10e12 * speed);
      const double memory = bytes_of(t.kind, p) / (500e9 * (speed == 1 ? 1 : 0.8));
      t.log_seconds.push_back(std::log(5e-6 + compute + memory));
    }
  t.log_seconds[3] = std::nan("");  // B lacks a problem
  Measurements m;
  m.kernels.push_back(std::move(t));
  m.all_reduces.push_back({"nv_4gpu", 4, {{1e6, 30e-6}, {2e6, 40e-6}, {4e6, 60e-6}, {8e6, 100e-6}}});
  return m;
}

const FittedModel& model() {
  static const FittedModel m = train_model(products(), 5);
  return m;
}

TEST(FittedModel, FitsASmoothLaw) {
  const KernelTimes t = products().kernels[0];
  const FittedKernel& k = model().kernels.at(0);
  for (std::size_t d = 0; d < 2; ++d) EXPECT_LT(k.errors[d].median, 0.1);
  EXPECT_EQ(k.errors[0].count, 27U);
  EXPECT_EQ(k.errors[1].count, 26U);
  EXPECT_NEAR(k.fit.log_seconds(t.problems[13], 0), t.at(13, 0), 0.1);
  // latency 20 us; 1e6 bytes more take 10 us: 2 x 3/4 x 1e11
  EXPECT_NEAR(model().all_reduces[0].fit.latency, 20e-6, 1e-9);
  EXPECT_NEAR(model().all_reduces[0].fit.bandwidth, 1.5e11, 1e6);
  EXPECT_LT(model().all_reduces[0].error, 1e-6);
}

TEST(FittedModel, SameDataSameModel) {
  EXPECT_EQ(to_json(train_model(products(), 5)), to_json(model()));
}

TEST(FittedModel, PredictsTheSameAfterReading) {
  const FittedModel read = model_from_json(to_json(model()), "m.json");
  ASSERT_EQ(read.kernels.size(), 1U);
  EXPECT_EQ(read.devices(), model().devices());
  EXPECT_EQ(to_json(read), to_json(model()));
  for (const Problem& p :
       {Problem{64, 16, 64, 0, 0}, Problem{100, 300, 900, 1, 0}, Problem{5000, 5, 9, 0, 1}})
    for (std::size_t d = 0; d < 2; ++d)
      EXPECT_NEAR(read.kernels[0].fit.log_seconds(p, d), model().kernels[0].fit.log_seconds(p, d), 1e-5);
  EXPECT_EQ(read.all_reduces[0].fit.system, "nv_4gpu");
}

TEST(FittedModel, BeyondTheMeasured) {
  const KernelFit& fit = model().kernels[0].fit;
  EXPECT_EQ(fit.beyond({256, 16, 64, 0, 0}, "M"), 0);
  EXPECT_NEAR(fit.beyond({2048, 16, 64, 0, 0}, "M"), std::log(2.0), 1e-9);
  EXPECT_NEAR(fit.beyond({32, 16, 64, 0, 0}, "M"), -std::log(2.0), 1e-9);
}

void expect_refused(const json& changed, const std::string& part) {
  try {
    static_cast<void>(model_from_json(changed.dump(), "m.json"));
    ADD_FAILURE() << "accepted; " << part << " was expected";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("m.json"), HasSubstr(part)));
  }
}

TEST(FittedModel, RefusesWhatIsInconsistent) {
  const json good = json::parse(to_json(model()));
  const auto change = [&](const char* pointer, const json& value, const std::string& part) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    expect_refused(bad, part);
  };
  change("/format", "espalier-plan", "is no fitted model");
  change("/version", 2, "version 2, version 1 is needed");
  change("/version", "1", "version");
  change("/kernels", 7, "is no list");
  change("/kernels/0/kernel", "fft", "conv_forward");
  change("/kernels/0/devices", json::array(), "devices");
  change("/kernels/0/devices/0/mean", "x", "mean");
  change("/kernels/0/devices/0/mean", nullptr, "mean");
  change("/kernels/0/devices/0/flop_rate", -1, "flop_rate");
  change("/kernels/0/devices/1/device", "A", "twice");
  change("/kernels/0/devices/0/device", "", "device");
  change("/kernels/0/problems/0", json::array({1, 2}), "problem 1");
  change("/kernels/0/problems/0/0", 0, "problem 1");
  change("/kernels/0/problems/1", good["kernels"][0]["problems"][0], "twice");
  change("/kernels/0/members", json::array(), "members");
  change("/kernels/0/members/0/covariance", "cosine", "matern52");
  change("/kernels/0/members/0/features/0", "colour", "colour");
  change("/kernels/0/members/0/lengths", json::array({1}), "lengths");
  change("/kernels/0/members/0/lengths/0", 0, "lengths");
  change("/kernels/0/members/0/feature_scale/0", 0, "feature_scale");
  change("/kernels/0/members/0/weights", json::object(), "A/fp32");
  change("/kernels/0/members/0/weights/A~1fp32/0", 1e300, "weights");
  change("/kernels/0/members/0/weights/A~1fp32", json::array({1, 2, 3}), "27 are needed");
  change("/bandwidths/0/byte_rate", 0, "byte_rate");
  change("/all_reduces/0/devices", 1, "devices");
  change("/all_reduces/0/bandwidth", 0, "bandwidth");
  json empty = good;
  empty["kernels"] = empty["bandwidths"] = empty["all_reduces"] = json::array();
  expect_refused(empty, "empty");
  for (const std::string text : {"", "[]", "{", "nonsense", "{\"format\": 1e999}"})
    EXPECT_THROW(static_cast<void>(model_from_json(text, "m.json")), InputError) << text;
}

}  // namespace
}  // namespace espalier::fitted
