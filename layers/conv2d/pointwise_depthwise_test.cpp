#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/one_node.hpp"

namespace espalier {
namespace {

using test::OneNode;
using test::random_tensor;
using test::relative_error;
using Ints = std::vector<std::int64_t>;

OneNode random_pair(std::mt19937& random) {
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  const std::int64_t channels = pick(1, 40), wide = pick(2, 90), kernel = pick(1, 5), stride = pick(1, 3);
  Attributes a;
  a.set("group", wide);
  a.set("strides", Ints{stride, stride});
  a.set("dilations", Ints{pick(1, 2), pick(1, 2)});
  a.set("pads", Ints{pick(0, 3), pick(0, 3), pick(0, 3), pick(0, 3)});
  const char* activations[] = {"", "Relu", "Clip", "Silu", "HardSwish"};
  a.set("activation", std::string(activations[pick(0, 4)]));
  a.set("activation_alpha", -0.25);
  a.set("activation_beta", 0.75);
  OneNode node(all_layers(), "PointwiseDepthwise", a);
  node.input(random_tensor(DType::f32, {pick(1, 2), pick(10, 20), pick(10, 20), channels}, random));
  node.constant(random_tensor(DType::f32, {wide, channels, 1, 1}, random));
  if (pick(0, 2) == 0)
    node.absent();
  else
    node.constant(random_tensor(DType::f32, {wide}, random));
  node.constant(random_tensor(DType::f32, {wide, 1, kernel, kernel}, random));
  if (pick(0, 2) != 0) node.constant(random_tensor(DType::f32, {wide}, random));
  if (pick(0, 1) == 0) node.fuse({"Silu", 0, 0, -1});
  return node;
}

TEST(PointwiseDepthwise, AllWaysAgreeOnRandomShapes) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    OneNode node = random_pair(random);
    KernelOptions reference;
    reference.reference_only = true;
    const Tensor expected = node.run(reference)[0];
    for (const char* name : {"rows", "chain"}) {
      KernelOptions options;
      options.forced = name;
      std::string chosen;
      const Tensor y = node.run(options, &chosen)[0];
      EXPECT_TRUE(chosen == name || !node.refusal(name).empty()) << chosen;
      EXPECT_LT(relative_error(y, expected), 2e-5) << name;
    }
  }
}

TEST(PointwiseDepthwise, CostCountsBothButNotTheTensorBetween) {
  // 1x1: 2 * 25 points * 3 * 8; depthwise 3x3 without padding: 2 * 9 points * 9 * 8
  Attributes a;
  a.set("group", std::int64_t{8});
  OneNode node(all_layers(), "PointwiseDepthwise", a);
  node.input(Tensor(DType::f32, {1, 5, 5, 3})).constant(Tensor(DType::f32, {8, 3, 1, 1})).absent();
  node.constant(Tensor(DType::f32, {8, 1, 3, 3}));
  node.infer();
  const LayerCost c =
      all_layers().find("PointwiseDepthwise")->cost(view_of(node.graph(), node.graph().nodes[0]));
  EXPECT_EQ(c.flops.value, 2.0 * 25 * 3 * 8 + 2.0 * 9 * 9 * 8);
  EXPECT_EQ(c.bytes_read.value, 4 * (75 + 24 + 72));
  EXPECT_EQ(c.bytes_written.value, 4 * 9 * 8);
}

TEST(PointwiseDepthwise, FirstKernelMustBeOnePoint) {
  OneNode node(all_layers(), "PointwiseDepthwise");
  node.input(Tensor(DType::f32, {1, 5, 5, 3})).constant(Tensor(DType::f32, {8, 3, 3, 3})).absent();
  node.constant(Tensor(DType::f32, {8, 1, 3, 3}));
  EXPECT_THROW(node.infer(), InputError);
}

}  // namespace
}  // namespace espalier
