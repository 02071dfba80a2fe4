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
using ::testing::HasSubstr;
using Ints = std::vector<std::int64_t>;

KernelOptions reference() {
  KernelOptions o;
  o.reference_only = true;
  return o;
}

Tensor floats(Shape shape, std::vector<float> values) {
  return Tensor::of<float>(std::move(shape), std::span<const float>(values));
}

/// Every implementation that applies gives what the reference gives. Returns how many fast ones there were.
int agrees(OneNode& node) {
  const Tensor expected = node.run(reference())[0];
  int fast = 0;
  for (const Implementation& i : node.implementations()) {
    KernelOptions options;
    options.forced = i.name;
    if (i.name == "reference" || !node.refusal(i.name, options).empty()) continue;
    std::string chosen;
    const Tensor result = node.run(options, &chosen)[0];
    EXPECT_EQ(chosen, i.name);
    EXPECT_LT(relative_error(result, expected), 2e-5) << i.name;
    ++fast;
  }
  return fast;
}

TEST(Conv, SumsTheWindow) {
  // x = 1 2 / 3 4, weight = 1 10 / 100 1000, no padding: 1 + 20 + 300 + 4000, plus bias 0.5
  OneNode node(all_layers(), "Conv");
  node.input(floats({1, 2, 2, 1}, {1, 2, 3, 4})).constant(floats({1, 1, 2, 2}, {1, 10, 100, 1000}));
  node.constant(floats({1}, {0.5F}));
  EXPECT_FLOAT_EQ(node.run(reference())[0].as<float>()[0], 4321.5F);
  EXPECT_FLOAT_EQ(node.run()[0].as<float>()[0], 4321.5F);
}

TEST(Conv, SameUpperPutsTheOddPaddingBehind) {
  // in 4, kernel 2, stride 1: out 4, one point of padding; behind for SAME_UPPER: 1+2 2+3 3+4 4+0
  for (const auto& [mode, first, last] :
       {std::tuple{"SAME_UPPER", 3.F, 4.F}, std::tuple{"SAME_LOWER", 1.F, 7.F}}) {
    Attributes a;
    a.set("auto_pad", std::string(mode));
    OneNode node(all_layers(), "Conv", a);
    node.input(floats({1, 4, 1}, {1, 2, 3, 4})).constant(floats({1, 1, 2}, {1, 1}));
    const Tensor y = node.run()[0];
    EXPECT_EQ(y.shape(), (Shape{1, 4, 1}));
    EXPECT_EQ(y.as<float>()[0], first);
    EXPECT_EQ(y.as<float>()[3], last);
  }
}

struct RandomConv {
  std::mt19937 random;
  explicit RandomConv(int seed) : random(static_cast<unsigned>(seed)) {}
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  }
  Ints many(int n, std::int64_t low, std::int64_t high) {
    Ints v;
    for (int i = 0; i < n; ++i) v.push_back(pick(low, high));
    return v;
  }

  /// groups, channels a group and filters a group
  std::tuple<std::int64_t, std::int64_t, std::int64_t> widths() {
    switch (pick(0, 3)) {
      case 0:
        return {pick(2, 40), 1, 1};  // depthwise
      case 1:
        return {pick(2, 3), pick(1, 9), pick(1, 9)};
      default:
        return {1, pick(1, 36), pick(1, 36)};
    }
  }

  OneNode make(const std::string& op, bool run_time_weight = false) {
    const bool transposed = op == "ConvTranspose";
    const int rank = static_cast<int>(pick(1, 3));
    const auto [groups, depth, filters] = widths();
    const Ints kernel = many(rank, 1, rank == 3 ? 3 : 4);
    Attributes a;
    a.set("group", groups);
    a.set("strides", many(rank, 1, 3));
    a.set("dilations", many(rank, 1, 2));
    Shape x({pick(1, 3)});
    std::vector<std::int64_t> dims{pick(1, 3)};
    for (std::int64_t e : many(rank, 7, rank == 3 ? 9 : 14)) dims.push_back(e);
    dims.push_back(groups * depth);
    if (pick(0, 2) == 0)
      a.set("auto_pad", std::string(pick(0, 1) == 0 ? "SAME_UPPER" : "SAME_LOWER"));
    else
      a.set("pads", many(2 * rank, 0, transposed ? 1 : 3));
    std::vector<std::int64_t> w = transposed ? Ints{groups * depth, filters} : Ints{groups * filters, depth};
    w.insert(w.end(), kernel.begin(), kernel.end());
    OneNode node(all_layers(), op, a);
    node.input(random_tensor(DType::f32, Shape(dims), random));
    Tensor weight = random_tensor(DType::f32, Shape(w), random);
    if (run_time_weight)
      node.input(weight);
    else
      node.constant(weight);
    if (pick(0, 1) == 0)
      node.constant(random_tensor(DType::f32, Shape{groups * filters}, random));
    else
      node.absent();
    return node;
  }
};

TEST(Conv, FastAgreesWithReferenceOnRandomShapes) {
  int fast = 0;
  for (int seed = 0; seed < 120; ++seed) {
    RandomConv r(seed);
    OneNode node = r.make("Conv", seed % 7 == 0);
    if (seed % 3 == 0) node.fuse_binary(seed % 2 == 0 ? "Add" : "Mul", r.random).fuse({"Relu", 0, 0});
    SCOPED_TRACE(seed);
    fast += agrees(node);
  }
  EXPECT_GE(fast, 110);
}

TEST(ConvTranspose, FastAgreesWithReferenceOnRandomShapes) {
  int fast = 0, seen = 0;
  for (int seed = 0; seed < 120; ++seed) {
    RandomConv r(seed + 1000);
    OneNode node = r.make("ConvTranspose", seed % 7 == 0);
    SCOPED_TRACE(seed);
    try {
      node.infer();
    } catch (const InputError&) {
      continue;  // padding ate the output
    }
    ++seen;
    if (seed % 3 == 0) node.fuse_binary(seed % 2 == 0 ? "Add" : "Mul", r.random).fuse({"Relu", 0, 0});
    fast += agrees(node);
  }
  EXPECT_GE(fast, seen * 3 / 4);
}

/// Shapes on both sides of every blocking and tail of our own loops: rows of 14, panels of two and three
/// vectors, parts of vectors, weights that stay in the cache and those that do not.
TEST(Conv, OwnLoopsAgreeOnEveryTail) {
  std::mt19937 random(9);
  for (const std::int64_t filters : {1, 8, 16, 17, 24, 32, 40, 48, 72, 80, 112, 144, 520})
    for (const auto& [extent, channels] :
         {std::pair<std::int64_t, std::int64_t>{1, 3}, {3, 16}, {6, 5}, {7, 300}, {11, 24}}) {
      OneNode node(all_layers(), "Conv");
      node.input(random_tensor(DType::f32, {1, extent, extent, channels}, random));
      node.constant(random_tensor(DType::f32, {filters, channels, 1, 1}, random));
      node.constant(random_tensor(DType::f32, {filters}, random));
      if (extent == 6) node.fuse_binary("Add", random);
      if (extent % 2 == 1) node.fuse({extent == 7 ? "Silu" : "Relu", 0, 0});
      if (extent == 11) node.fuse_binary("Add", random);
      SCOPED_TRACE(std::to_string(filters) + " filters, extent " + std::to_string(extent));
      agrees(node);
    }
}

TEST(Conv, WinogradAgreesAtEveryBorder) {
  std::mt19937 random(10);
  for (const std::int64_t extent : {1, 2, 4, 5, 7, 9, 14})
    for (const Ints& pads : {Ints{1, 1, 1, 1}, Ints{0, 1, 1, 0}, Ints{2, 0, 0, 2}, Ints{1, 1, 0, 3}}) {
      Attributes a;
      a.set("pads", pads);
      OneNode node(all_layers(), "Conv", a);
      node.input(random_tensor(DType::f32, {3, extent + 1, extent + 2, 32}, random));
      node.constant(random_tensor(DType::f32, {48, 32, 3, 3}, random))
          .constant(random_tensor(DType::f32, {48}, random));
      if (extent % 2 == 1) node.fuse_binary("Add", random).fuse({"Relu", 0, 0});
      SCOPED_TRACE(extent);
      KernelOptions options;
      options.forced = "winograd";
      std::string chosen;
      const Tensor y = node.run(options, &chosen)[0];
      if (chosen == "winograd") {
        EXPECT_LT(relative_error(y, node.run(reference())[0]), 2e-5);
      }
      options.allow_winograd = false;
      EXPECT_THAT(node.refusal("winograd", options), HasSubstr("not allowed"));
    }
}

TEST(Conv, FusedOperationsApplyInOrder) {
  const std::vector<PostOp> activations = {{"Relu", 0, 0},
                                           {"Clip", -0.5F, 1.5F},
                                           {"Silu", 0, 0},
                                           {"Sigmoid", 0, 0},
                                           {"HardSigmoid", 0.2F, 0.5F},
                                           {"HardSwish", 0, 0},
                                           {"Tanh", 0, 0},
                                           {"Mish", 0, 0},
                                           {"LeakyRelu", 0.1F, 0},
                                           {"Elu", 0.7F, 0},
                                           {"Gelu", 0, 0},
                                           {"Gelu", 1, 0}};
  for (std::size_t i = 0; i < activations.size(); ++i)
    for (int order = 0; order < 3; ++order) {
      RandomConv r(static_cast<int>(i));
      OneNode node = r.make("Conv");
      if (order == 1) node.fuse_binary("Add", r.random);
      node.fuse(activations[i]);
      if (order == 2) node.fuse_binary("Mul", r.random);
      SCOPED_TRACE(activations[i].op);
      EXPECT_GE(agrees(node), 1);
    }
}

TEST(Conv, ServesEveryFloatType) {
  std::mt19937 random(5);
  for (DType t : {DType::f64, DType::f16, DType::bf16}) {
    OneNode node(all_layers(), "Conv");
    node.input(random_tensor(t, {1, 5, 5, 3}, random)).constant(random_tensor(t, {4, 3, 3, 3}, random));
    std::string chosen;
    EXPECT_EQ(node.run({}, &chosen)[0].dtype(), t);
    EXPECT_EQ(chosen, "reference");
    EXPECT_THAT(node.refusal("direct"), HasSubstr("only float32"));
  }
}

TEST(Conv, Bfloat16OnlyWhenAllowed) {
  std::mt19937 random(6);
  OneNode node(all_layers(), "Conv");
  node.input(random_tensor(DType::f32, {2, 9, 9, 32}, random))
      .constant(random_tensor(DType::f32, {48, 32, 3, 3}, random));
  node.absent().fuse_binary("Add", random).fuse({"Relu", 0, 0});
  EXPECT_THAT(node.refusal("bf16"), HasSubstr("not allowed"));
  KernelOptions options;
  options.allow_bf16 = true;
  // 288 products of factors rounded to 8 bits: relative errors of 2^-8 that average out
  EXPECT_LT(relative_error(node.run(options)[0], node.run(reference())[0]), 1e-2);
}

TEST(Conv, EmptyBatchGivesAnEmptyResult) {
  OneNode node(all_layers(), "Conv");
  node.input(Tensor(DType::f32, {0, 5, 5, 3})).constant(Tensor(DType::f32, {4, 3, 3, 3}));
  EXPECT_EQ(node.run()[0].shape(), (Shape{0, 3, 3, 4}));
}

/// The text of the InputError that inferring the node gives.
std::string complaint(OneNode& node) {
  try {
    node.infer();
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

std::string complaint(const Shape& x, const Shape& w, const char* name = "group",
                      Attribute value = std::int64_t{1}, const Shape& bias = Shape{4}) {
  Attributes a;
  a.set(name, std::move(value));
  OneNode node(all_layers(), "Conv", a);
  node.input(Tensor(DType::f32, x)).constant(Tensor(DType::f32, w)).constant(Tensor(DType::f32, bias));
  return complaint(node);
}

TEST(Conv, BadInputIsNamed) {
  const Shape x{1, 5, 5, 3}, w{4, 3, 3, 3};
  EXPECT_EQ(complaint(x, w), "accepted");
  EXPECT_THAT(complaint({1, 5, 3}, w), HasSubstr("4 axes"));
  EXPECT_THAT(complaint(x, {4, 2, 3, 3}), HasSubstr("needs 3"));
  EXPECT_THAT(complaint(x, w, "group", std::int64_t{2}), HasSubstr("group 2"));
  EXPECT_THAT(complaint(x, w, "group", std::int64_t{0}), HasSubstr("group 0"));
  EXPECT_THAT(complaint(x, {4, 3, 6, 3}), HasSubstr("reaches over 6"));
  EXPECT_THAT(complaint(x, w, "strides", Ints{0, 1}), HasSubstr("strides"));
  EXPECT_THAT(complaint(x, w, "strides", Ints{1}), HasSubstr("1 entries"));
  EXPECT_THAT(complaint(x, w, "dilations", Ints{-1, 1}), HasSubstr("dilations"));
  EXPECT_THAT(complaint(x, w, "pads", Ints{0, 0, -1, 0}), HasSubstr("pads"));
  EXPECT_THAT(complaint(x, w, "pads", Ints{0, 0}), HasSubstr("need 4"));
  EXPECT_THAT(complaint(x, w, "kernel_shape", Ints{5, 5}), HasSubstr("kernel_shape"));
  EXPECT_THAT(complaint(x, w, "auto_pad", std::string("ODD")), HasSubstr("SAME_UPPER"));
  EXPECT_THAT(complaint(x, w, "group", std::int64_t{1}, Shape{3}), HasSubstr("bias"));
}

TEST(Conv, CostCountsMultiplyAdds) {
  // 2 images, 3 x 3 points, 4 filters, 3 channels, 3 x 3 taps: 2 * 2 * 9 * 4 * 27 flops
  OneNode node(all_layers(), "Conv");
  node.input(Tensor(DType::f32, {2, 5, 5, 3})).constant(Tensor(DType::f32, {4, 3, 3, 3}));
  node.infer();
  const LayerCost c = all_layers().find("Conv")->cost(view_of(node.graph(), node.graph().nodes[0]));
  EXPECT_EQ(c.flops.value, 2.0 * 2 * 9 * 4 * 27);
  EXPECT_EQ(c.bytes_read.value, 4 * (2 * 25 * 3 + 4 * 27));
  EXPECT_EQ(c.bytes_written.value, 4 * 2 * 9 * 4);
}

TEST(ConvTranspose, SpreadsEachPoint) {
  // x = 1 2, weight = 1 10 100, stride 2: 1 10 100+2 20 200
  Attributes a;
  a.set("strides", Ints{2});
  OneNode node(all_layers(), "ConvTranspose", a);
  node.input(floats({1, 2, 1}, {1, 2})).constant(floats({1, 1, 3}, {1, 10, 100}));
  const Tensor y = node.run()[0];
  EXPECT_EQ(std::vector<float>(y.as<float>().begin(), y.as<float>().end()),
            (std::vector<float>{1, 10, 102, 20, 200}));
}

TEST(ConvTranspose, OutputShapeSplitsThePadding) {
  // full extent 2 (3 - 1) + 3 = 7; asked for 5: one point cut on each side; for 8: one point of nothing
  // behind
  std::mt19937 random(3);
  for (const std::int64_t asked : {5, 8}) {
    Attributes a;
    a.set("strides", Ints{2});
    a.set("output_shape", Ints{asked});
    OneNode node(all_layers(), "ConvTranspose", a);
    node.input(random_tensor(DType::f32, {1, 3, 2}, random))
        .constant(random_tensor(DType::f32, {2, 4, 3}, random));
    EXPECT_EQ(node.infer()[0].shape, (Shape{1, asked, 4}));
    agrees(node);
  }
}

}  // namespace
}  // namespace espalier
