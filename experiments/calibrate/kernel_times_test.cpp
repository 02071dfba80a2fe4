#include "experiments/calibrate/kernel_times.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

#include "layers/layer_list.hpp"

namespace espalier {
namespace {

/// x [1, 12, 12, 16] -> Conv 3x3, 32 filters -> Conv of the same shape twice -> Relu.
Graph three_convolutions() {
  Graph g;
  g.name = "three";
  ValueId v = g.add_value("x", TensorType{DType::f32, Shape{1, 12, 12, 16}});
  g.inputs = {v};
  std::mt19937 random(1);
  for (int i = 0; i < 3; ++i) {
    Attributes pads;
    pads.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    Tensor weight(DType::f32, Shape{32, i == 0 ? 16 : 32, 3, 3});
    for (float& w : weight.as_mutable<float>()) w = static_cast<float>(random() % 100) / 100;
    const ValueId w = g.add_constant("w" + std::to_string(i), std::move(weight));
    const std::string name = "conv" + std::to_string(i);
    v = g.add_node("Conv", name, {v, w}, {name + ".y"}, std::move(pads)).outputs[0];
  }
  g.outputs = {v};
  return g;
}

TEST(KernelTimes, EveryImplementationOfEachDistinctNode) {
  RunRequest request;
  request.machine.cores = 1;
  const PreparedProgram prepared = prepare_program(three_convolutions(), all_layers(), request);
  starpu::Machine machine({"eager", 1});
  const KernelTimes times = measure_kernels(prepared, all_layers(), machine, {},
                                            {.relative_error = 0.5, .max_seconds = 0.5}, 1, nullptr);
  EXPECT_FALSE(times.interrupted);
  std::map<std::string, int> chosen, all;
  for (const KernelTime& t : times.times) {
    if (!t.node.codelet.starts_with("conv2d")) continue;
    chosen[t.node.signature] += t.chosen ? 1 : 0;
    ++all[t.node.signature];
    EXPECT_GT(t.cost.seconds, 0);
    EXPECT_LT(t.cost.seconds, 1);
    EXPECT_GE(t.cost.samples, 3U);
    EXPECT_FALSE(t.implementation.empty());
  }
  ASSERT_FALSE(all.empty());
  EXPECT_LE(all.size(), 2U);  // the second and third are alike
  for (const auto& [signature, count] : chosen) EXPECT_EQ(count, 1) << signature;
  const MeasuredCosts costs = times.costs();
  const KernelTime& first = times.times.front();
  EXPECT_NE(costs.find(first.node), nullptr);
  CostClassInfo one = first.node;
  one.codelet += "@" + first.implementation;
  EXPECT_NE(costs.find(one), nullptr);
}

TEST(KernelTimes, StopsWhenAsked) {
  RunRequest request;
  request.machine.cores = 1;
  const PreparedProgram prepared = prepare_program(three_convolutions(), all_layers(), request);
  starpu::Machine machine({"eager", 1});
  const std::atomic<bool> stop = true;
  const KernelTimes times = measure_kernels(prepared, all_layers(), machine, {}, {}, 1, &stop);
  EXPECT_TRUE(times.interrupted);
  EXPECT_TRUE(times.times.empty());
}

}  // namespace
}  // namespace espalier
