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
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ints = std::vector<std::int64_t>;

KernelOptions reference() {
  KernelOptions o;
  o.reference_only = true;
  return o;
}

std::vector<float> values(const Tensor& t) {
  return {t.as<float>().begin(), t.as<float>().end()};
}

Tensor counting(Shape shape) {
  Tensor t(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < t.elements(); ++i) t.as_mutable<float>()[i] = static_cast<float>(i + 1);
  return t;
}

OneNode window(const char* op, Tensor x, Ints kernel, Ints strides = {}, Ints pads = {},
               bool ceil_mode = false, bool count = false) {
  Attributes a;
  a.set("kernel_shape", std::move(kernel));
  if (!strides.empty()) a.set("strides", std::move(strides));
  if (!pads.empty()) a.set("pads", std::move(pads));
  a.set("ceil_mode", std::int64_t{ceil_mode});
  a.set("count_include_pad", std::int64_t{count});
  OneNode node(all_layers(), op, a);
  node.input(std::move(x));
  return node;
}

TEST(AveragePool, DividesByThePointsThatCount) {
  // x = 1 2 3 4 5, kernel 3, stride 2, one point of padding on both sides
  EXPECT_THAT(values(window("AveragePool", counting({1, 5, 1}), {3}, {2}, {1, 1}).run()[0]),
              ElementsAre(1.5, 3, 4.5));
  EXPECT_THAT(values(window("AveragePool", counting({1, 5, 1}), {3}, {2}, {1, 1}, false, true).run()[0]),
              ElementsAre(1, 3, 3));
  // ceil_mode, kernel 2, stride 2, no padding: the last window holds only 5; what ceil adds never counts
  EXPECT_THAT(values(window("AveragePool", counting({1, 5, 1}), {2}, {2}, {}, true, true).run()[0]),
              ElementsAre(1.5, 3.5, 5));
}

TEST(MaxPool, CeilModeDropsWindowsBehindTheInput) {
  // in 4, kernel 1, stride 3, pads 0 2: ceil gives 3 windows at 0 3 6; the one at 6 starts in the padding
  EXPECT_THAT(values(window("MaxPool", counting({1, 4, 1}), {1}, {3}, {0, 2}, true).run()[0]),
              ElementsAre(1, 4));
}

TEST(MaxPool, IndicesAreFlatInChannelsFirstOrder) {
  // x [1, 2, 3, 2] channels last; the maximum of each channel stands at row 1, column 2
  for (const auto& [order, first] : {std::pair<std::int64_t, std::int64_t>{0, 1 * 3 + 2}, {1, 2 * 2 + 1}}) {
    Attributes a;
    a.set("kernel_shape", Ints{2, 3});
    a.set("storage_order", order);
    OneNode node(all_layers(), "MaxPool", a);
    node.input(counting({1, 2, 3, 2})).outputs(2);
    const auto y = node.run();
    EXPECT_THAT(values(y[0]), ElementsAre(11, 12));
    EXPECT_EQ(y[1].as<std::int64_t>()[0], first);
    EXPECT_EQ(y[1].as<std::int64_t>()[1], 6 + first);
  }
}

TEST(MaxPool, ServesBytes) {
  OneNode node =
      window("MaxPool", Tensor::of<std::uint8_t>({1, 2, 1}, std::vector<std::uint8_t>{3, 200}), {2});
  EXPECT_EQ(node.run()[0].as<std::uint8_t>()[0], 200);
}

TEST(LpPool, IsANorm) {
  EXPECT_THAT(values(window("LpPool", Tensor::of<float>({1, 2, 1}, std::vector<float>{3, -4}), {2}).run()[0]),
              ElementsAre(5));
}

TEST(Pool, FastAgreesWithReferenceOnRandomShapes) {
  int fast = 0;
  for (int seed = 0; seed < 150; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto pick = [&](std::int64_t low, std::int64_t high) {
      return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    const int rank = static_cast<int>(pick(1, 3));
    Ints dims{pick(1, 3)}, kernel, strides, pads(2 * static_cast<std::size_t>(rank)), dilations;
    const bool average = seed % 2 != 0;
    for (int i = 0; i < rank; ++i) {
      dims.push_back(pick(6, 12));
      kernel.push_back(pick(1, 3));
      strides.push_back(pick(1, 3));
      dilations.push_back(pick(1, 2));
      pads[i] = pick(0, kernel[i] - 1);
      pads[i + rank] = pick(0, kernel[i] - 1);
    }
    dims.push_back(pick(1, 40));
    Attributes a;
    a.set("kernel_shape", kernel);
    a.set("strides", strides);
    if (!average) a.set("dilations", dilations);
    if (pick(0, 3) == 0)
      a.set("auto_pad", std::string("SAME_UPPER"));
    else
      a.set("pads", pads);
    a.set("ceil_mode", pick(0, 1));
    a.set("count_include_pad", pick(0, 1));
    OneNode node(all_layers(), average ? "AveragePool" : "MaxPool", a);
    node.input(random_tensor(DType::f32, Shape(dims), random));
    std::string chosen;
    const Tensor y = node.run({}, &chosen)[0];
    fast += chosen == "direct";
    EXPECT_LT(relative_error(y, node.run(reference())[0]), 1e-6) << seed;
  }
  EXPECT_GE(fast, 90);
}

TEST(GlobalPool, CoversEverything) {
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    for (const Shape& x : {Shape{2, 5, 3}, Shape{2, 7, 7, 19}, Shape{1, 3, 4, 5, 33}}) {
      std::mt19937 random(4);
      OneNode node(all_layers(), op);
      node.input(random_tensor(DType::f32, x, random));
      const Tensor y = node.run()[0];
      EXPECT_EQ(y.elements(), x[0] * x[-1]);
      EXPECT_LT(relative_error(y, node.run(reference())[0]), 1e-6) << op;
    }
}

TEST(Pool, BadInputIsNamed) {
  const auto complaint = [](OneNode node) -> std::string {
    try {
      node.infer();
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_THAT(complaint(window("MaxPool", counting({1, 5, 1}), {3, 3})), HasSubstr("kernel_shape"));
  EXPECT_THAT(complaint(window("MaxPool", counting({1, 5, 1}), {0})), HasSubstr("kernel"));
  EXPECT_THAT(complaint(window("MaxPool", counting({1, 5, 1}), {9})), HasSubstr("reaches over 9"));
  EXPECT_THAT(complaint(window("AveragePool", Tensor(DType::i64, {1, 5, 1}), {2})), HasSubstr("int64"));
  EXPECT_THAT(complaint(window("MaxPool", counting({1, 5}), {2})), HasSubstr("3 to 5"));
}

}  // namespace
}  // namespace espalier
