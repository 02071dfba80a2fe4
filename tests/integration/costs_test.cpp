#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/run_command.hpp"
#include "tests/support/shared_data.hpp"

namespace espalier::test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> simulate(const std::string& graph, const std::string& platform,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> out = {"simulate",    graph,   "--platform", platform,
                                  "--scheduler", "dmdas", "--json"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

json result_of(const std::vector<std::string>& arguments) {
  const CommandResult r = run_espalier(arguments);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  return json::parse(r.out, nullptr, false);
}

void expect_refused(const std::vector<std::string>& arguments, const std::vector<std::string>& parts) {
  const CommandResult r = run_espalier(arguments);
  EXPECT_EQ(r.exit_code, 2) << r.out;
  for (const std::string& part : parts) EXPECT_THAT(r.err, HasSubstr(part));
}

/// Two products on one device, times of 1 us a unit of work.
std::string data_file(const std::string& folder) {
  const std::string path = folder + "/gemm.csv";
  std::ofstream csv(path);
  csv << "device,precision,M,N,K,transA,transB,ms\n";
  for (const int m : {64, 256, 1000})
    for (const int n : {1, 16, 64})
      for (const int k : {128, 512, 2048})
        csv << "MyGpu,fp32," << m << ',' << n << ',' << k << ",T,N," << 1e-3 + 1e-9 * m * n * k << '\n';
  return path;
}

TEST(Costs, GpusHaveFittedOnes) {
  const json r =
      result_of(simulate("resnet18", "hetero-2v100-2p100", {"--mode", "training", "--batch", "16"}));
  EXPECT_GT(r["cost_sources"].value("fitted", 0.0), 0.05);
  bool weight = false;
  double shares = 0;
  for (const json& b : r["cost_bases"]) {
    shares += b["share"].get<double>();
    if (b["basis"].get<std::string>().starts_with("conv_backward_weight")) {
      weight = true;
      EXPECT_GT(b["median_error"].get<double>(), 0);
      EXPECT_LT(b["median_error"].get<double>(), 0.2);
    }
  }
  EXPECT_TRUE(weight);
  EXPECT_NEAR(shares, 1, 1e-9);
  const json roofline =
      result_of(simulate("resnet18", "hetero-2v100-2p100", {"--batch", "16", "--costs", "roofline"}));
  EXPECT_EQ(roofline["cost_sources"], json({{"roofline", 1.0}}));
  EXPECT_EQ(roofline["reproduce"]["costs"], "roofline");
}

TEST(Costs, NewerGpusAreMarkedAsExtrapolated) {
  const json r = result_of(simulate("resnet18", "8xa100", {"--batch", "16"}));
  EXPECT_GT(r["cost_sources"].value("extrapolated", 0.0), 0.01);
  EXPECT_EQ(r["cost_sources"].count("fitted"), 0U);
}

TEST(Costs, TextAndComparisonSayWhatTheyRestOn) {
  const CommandResult text =
      run_espalier({"simulate", "resnet18", "--platform", "dgx-1", "--scheduler", "dmdas", "--batch", "8"});
  EXPECT_THAT(text.out, HasSubstr("fitted (median error "));
  const json r = result_of({"compare", "resnet18", "--platform", "dgx-1", "--schedulers",
                            "dmdas,heft_topcuoglu2002", "--batch", "8", "--json"});
  EXPECT_THAT(r.dump(), HasSubstr("\"cost_bases\""));
}

TEST(Costs, OwnModelOfANewDevice) {
  const std::string folder = fresh_folder("own_model");
  const std::string model = folder + "/model.json";
  const CommandResult fit = run_espalier({"fit-costs", data_file(folder), "--out", model, "--json"});
  ASSERT_EQ(fit.exit_code, 0) << fit.err;
  const std::string platform = folder + "/new.yaml";
  std::ofstream(platform)
      << "kinds:\n  mygpu-pcie: {type: cuda, peak: 1 Tflop/s, memory_bandwidth: 100 GB/s}\n"
         "memories: {main: 16 GiB}\n"
         "devices: [{name: g, kind: mygpu-pcie, memory: main}]\n";
  const json r = result_of(simulate("resnet18", platform, {"--batch", "8", "--costs", model}));
  bool found = false;
  for (const json& b : r["cost_bases"]) found = found || b["basis"] == "gemm of MyGpu/fp32";
  EXPECT_TRUE(found) << r["cost_bases"];
  expect_refused(simulate("resnet18", "cpu-8", {"--costs", model}),
                 {"MyGpu/fp32", "xeon-6130-core", "costs:"});
  std::ofstream(model, std::ios::app) << "x";
  expect_refused(simulate("resnet18", platform, {"--costs", model}), {"model.json", "not valid JSON"});
  std::ofstream(model) << R"({"format": "espalier-fitted-costs", "version": 7})";
  expect_refused(simulate("resnet18", platform, {"--costs", model}),
                 {"model.json", "version 7", "fit-costs"});
}

TEST(Costs, GradientsByMeasuredCollectives) {
  const std::vector<std::string> step = {"--mode", "training", "--batch", "32", "--micro-batches", "8"};
  const json r = result_of(simulate("resnet18", "dgx-1", step));
  bool fitted = false;
  for (const json& b : r["cost_bases"])
    if (b["basis"] == "all-reduce of v100_8gpu") {
      fitted = b["source"] == "fitted";
      EXPECT_LT(b["median_error"].get<double>(), 0.05);
    }
  EXPECT_TRUE(fitted) << r["cost_bases"];
  auto tree = step, ring = step, bad = step;
  tree.insert(tree.end(), {"--gradients", "tree"});
  EXPECT_EQ(result_of(simulate("resnet18", "dgx-1", tree))["cost_bases"].dump().find("all-reduce"),
            std::string::npos);
  ring.insert(ring.end(), {"--gradients", "all-reduce"});
  EXPECT_NE(result_of(simulate("resnet18", "node-2cpu-4gpu", ring))["cost_bases"].dump().find(
                "ring all-reduce over the platform's links"),
            std::string::npos);
  bad.insert(bad.end(), {"--gradients", "mail"});
  expect_refused(simulate("resnet18", "dgx-1", bad), {"--gradients mail", "tree", "all-reduce"});
}

TEST(Costs, ProfilesAreMeasured) {
  ESPALIER_SHARED_OR_SKIP(vgg, "data/pipedream/vgg16.txt");
  const std::string folder = fresh_folder("profiles");
  std::ofstream(folder + "/one.yaml") << "kinds:\n  gpu: {type: cuda}\n"
                                         "memories: {main: 64 GiB}\n"
                                         "devices: [{name: gpu0, kind: gpu, memory: main}]\n";
  const json r = result_of(simulate(vgg.string(), folder + "/one.yaml"));
  EXPECT_NEAR(r["makespan"].get<double>(), 0.672535, 1e-5);
  EXPECT_EQ(r["cost_sources"], json({{"measured elsewhere", 1.0}}));
  expect_refused(simulate(vgg.string(), folder + "/one.yaml", {"--costs", "roofline"}),
                 {"vgg16.txt", "given"});
}

TEST(Costs, BadChoices) {
  expect_refused(simulate("resnet18", "dgx-1", {"--costs", "guessed"}),
                 {"--costs guessed", "roofline", "fitted"});
  expect_refused(simulate("resnet18", "cpu-8", {"--costs", "fitted"}), {"xeon-6130-core", "NV_V100/fp32"});
  expect_refused(simulate("resnet18", "dgx-1", {"--costs", "given"}), {"resnet18", "no times"});
  expect_refused(simulate("resnet18", "dgx-1", {"--costs", "calibrated"}), {"--platform local", "dgx-1"});
  const std::string folder = fresh_folder("bad_choices");
  std::ofstream(folder + "/p.yaml") << "kinds:\n  g: {type: cuda, costs: NV_V900/fp32}\n"
                                       "memories: {main: 16 GiB}\n"
                                       "devices: [{name: g, kind: g, memory: main}]\n";
  expect_refused(simulate("resnet18", folder + "/p.yaml"), {"NV_V900/fp32", "known are", "NV_V100/fp32"});
  std::ofstream(folder + "/q.yaml") << "kinds:\n  g: {type: cuda, scaled_costs: NV_V100/fp32}\n"
                                       "memories: {main: 16 GiB}\n"
                                       "devices: [{name: g, kind: g, memory: main}]\n";
  expect_refused(simulate("resnet18", folder + "/q.yaml"), {"q.yaml:2", "scaled_costs", "peak"});
}

}  // namespace
}  // namespace espalier::test
