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

KernelOptions reference() {
  KernelOptions o;
  o.reference_only = true;
  return o;
}

void expect_agreement(OneNode& node, bool fast_needed = true) {
  std::string chosen;
  const Tensor fast = node.run({}, &chosen)[0];
  if (fast_needed) {
    EXPECT_EQ(chosen, "matmul") << node.refusal("matmul");
  }
  EXPECT_LT(relative_error(fast, node.run(reference())[0]), 1e-5);
}

TEST(MatMul, BroadcastsAsNumPyDoes) {
  // operand shapes and the result's, as numpy.matmul gives them
  const std::vector<std::array<Shape, 3>> cases = {{Shape{3}, Shape{3}, Shape{}},
                                                   {Shape{3}, Shape{3, 4}, Shape{4}},
                                                   {Shape{2, 3}, Shape{3}, Shape{2}},
                                                   {Shape{5, 2, 3}, Shape{3}, Shape{5, 2}},
                                                   {Shape{2, 3}, Shape{3, 4}, Shape{2, 4}},
                                                   {Shape{5, 2, 3}, Shape{3, 4}, Shape{5, 2, 4}},
                                                   {Shape{2, 3}, Shape{5, 3, 4}, Shape{5, 2, 4}},
                                                   {Shape{6, 1, 2, 3}, Shape{5, 3, 4}, Shape{6, 5, 2, 4}},
                                                   {Shape{1, 5, 2, 3}, Shape{6, 1, 3, 4}, Shape{6, 5, 2, 4}},
                                                   {Shape{3}, Shape{5, 3, 4}, Shape{5, 4}}};
  std::mt19937 random(1);
  for (const auto& [a, b, y] : cases)
    for (bool constant : {false, true}) {
      SCOPED_TRACE(a.to_string() + " " + b.to_string());
      OneNode node(all_layers(), "MatMul");
      node.input(random_tensor(DType::f32, a, random));
      if (constant)
        node.constant(random_tensor(DType::f32, b, random));
      else
        node.input(random_tensor(DType::f32, b, random));
      EXPECT_EQ(node.infer()[0].shape, y);
      expect_agreement(node);
    }
}

TEST(MatMul, ABiasAddsToEveryRow) {
  std::mt19937 random(4);
  const std::vector<std::pair<Shape, Shape>> cases = {{{5, 9}, {9, 7}},
                                                      {{2, 5, 9}, {9, 7}},
                                                      {{2, 3, 5, 9}, {2, 3, 9, 7}},
                                                      {{2, 1, 5, 9}, {3, 9, 7}},
                                                      {{2, 5, 9}, {9, 1}}};
  for (const auto& [a, b] : cases)
    for (bool fused : {false, true}) {
      SCOPED_TRACE(a.to_string() + " " + b.to_string());
      OneNode node(all_layers(), "MatMul");
      node.input(random_tensor(DType::f32, a, random)).constant(random_tensor(DType::f32, b, random));
      const Tensor without = node.run(reference())[0];
      const Tensor bias = random_tensor(DType::f32, {b[-1]}, random);
      node.constant(bias);
      const Tensor with = node.run(reference())[0];
      for (std::int64_t i = 0; i < with.elements(); ++i)
        ASSERT_NEAR(with.as<float>()[i], without.as<float>()[i] + bias.as<float>()[i % b[-1]], 1e-5);
      if (fused) node.fuse_binary("Add", random).fuse({"Gelu", 0, 0});
      expect_agreement(node);
    }
  OneNode node(all_layers(), "MatMul");
  node.input(Tensor(DType::f32, {2, 3})).input(Tensor(DType::f32, {3, 4})).input(Tensor(DType::f32, {3}));
  EXPECT_THROW(node.infer(), InputError);
}

TEST(MatMul, IntegersStayExact) {
  OneNode node(all_layers(), "MatMul");
  const std::int64_t big = (std::int64_t{1} << 53) + 1;  // not a double
  node.input(Tensor::of<std::int64_t>({1, 2}, std::vector<std::int64_t>{big, 1}));
  node.input(Tensor::of<std::int64_t>({2, 1}, std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(node.run()[0].as<std::int64_t>()[0], big + 2);
}

TEST(Gemm, EveryCombinationAgrees) {
  std::mt19937 random(2);
  const std::vector<std::optional<Shape>> cs = {std::nullopt, Shape{},     Shape{1},   Shape{7},
                                                Shape{1, 7},  Shape{5, 1}, Shape{5, 7}};
  for (int flags = 0; flags < 32; ++flags)
    for (const auto& c : cs) {
      const bool ta = flags & 1, tb = flags & 2, constant = flags & 4, scaled = flags & 8, fused = flags & 16;
      Attributes a;
      a.set("transA", std::int64_t{ta});
      a.set("transB", std::int64_t{tb});
      if (scaled) a.set("alpha", 0.5);
      if (scaled) a.set("beta", -2.0);
      OneNode node(all_layers(), "Gemm", a);
      node.input(random_tensor(DType::f32, ta ? Shape{9, 5} : Shape{5, 9}, random));
      const Tensor b = random_tensor(DType::f32, tb ? Shape{7, 9} : Shape{9, 7}, random);
      constant ? node.constant(b) : node.input(b);
      if (c)
        constant ? node.constant(random_tensor(DType::f32, *c, random))
                 : node.input(random_tensor(DType::f32, *c, random));
      if (!c) node.absent();
      if (fused) node.fuse_binary("Add", random).fuse({"Relu", 0, 0});
      SCOPED_TRACE(flags);
      expect_agreement(node);
    }
}

TEST(Gemm, RandomSizesAgree) {
  std::mt19937 random(3);
  std::uniform_int_distribution<std::int64_t> extent(1, 70);
  for (int i = 0; i < 60; ++i) {
    const std::int64_t m = extent(random), k = extent(random), n = extent(random);
    OneNode node(all_layers(), "Gemm");
    node.input(random_tensor(DType::f32, {m, k}, random)).constant(random_tensor(DType::f32, {k, n}, random));
    node.constant(random_tensor(DType::f32, {n}, random));
    if (i % 3 == 0) node.fuse({"Gelu", 0, 0});
    SCOPED_TRACE(i);
    expect_agreement(node);
  }
}

TEST(Gemm, BadInputIsNamed) {
  const auto complaint = [](const Shape& a, const Shape& b, const Shape& c) -> std::string {
    OneNode node(all_layers(), "Gemm");
    node.input(Tensor(DType::f32, a)).input(Tensor(DType::f32, b)).input(Tensor(DType::f32, c));
    try {
      node.infer();
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(complaint({2, 3}, {3, 4}, {4}), "accepted");
  EXPECT_THAT(complaint({2, 3}, {4, 4}, {4}), HasSubstr("inner extents 3 and 4"));
  EXPECT_THAT(complaint({2, 3, 1}, {3, 4}, {4}), HasSubstr("must be matrices"));
  EXPECT_THAT(complaint({2, 3}, {3, 4}, {3}), HasSubstr("[3]"));
  EXPECT_THAT(complaint({2, 3}, {3, 4}, {1, 2, 4}), HasSubstr("does not broadcast"));
}

TEST(Gemm, InnerExtentZeroGivesC) {
  OneNode node(all_layers(), "Gemm");
  node.input(Tensor(DType::f32, {2, 0})).input(Tensor(DType::f32, {0, 1}));
  node.input(Tensor::scalar<float>(3));
  const Tensor y = node.run()[0];
  EXPECT_EQ(y.as<float>()[1], 3);
}

}  // namespace
}  // namespace espalier
