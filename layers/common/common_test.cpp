#include <gtest/gtest.h>
#include <random>

#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/permute.hpp"
#include "layers/common/post_op_chain.hpp"

namespace espalier {
namespace {

TEST(DtypeDispatch, casts_as_onnx_does) {
  EXPECT_EQ(convert_element<std::int32_t>(-2.7F), -2);
  EXPECT_EQ(convert_element<std::int32_t>(3e9F), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(convert_element<std::int32_t>(NAN), 0);
  EXPECT_EQ(convert_element<std::uint8_t>(std::int32_t{-1}), 255);
  EXPECT_TRUE(convert_element<Bool>(0.25F));
  EXPECT_FALSE(convert_element<Bool>(-0.0));
  EXPECT_TRUE(convert_element<Bool>(Float16(2.0F)));
  EXPECT_EQ(convert_element<float>(convert_element<Float16>(0.1F)), 0.0999755859375F);
  EXPECT_EQ(convert_element<double>(convert_element<BFloat16>(3.0)), 3.0);
  EXPECT_EQ(convert_element<float>(Bool(true)), 1.0F);
}

TEST(DtypeDispatch, refuses_by_name) {
  try {
    require_dtype(DType::f32, dtypes_of(Booleans{}), "input 0");
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "input 0 is float32; accepted: bool");
  }
}

/// Element of a broadcast input for a row-major index of the output.
std::int64_t source_of(std::int64_t flat, const Shape& out, const Shape& in) {
  std::int64_t offset = 0;
  const auto strides = in.strides();
  for (int i = 1; i <= out.rank(); ++i) {
    const std::int64_t index = flat % out[-i];
    flat /= out[-i];
    if (i <= in.rank() && in[-i] != 1) offset += index * strides[static_cast<std::size_t>(in.rank() - i)];
  }
  return offset;
}

TEST(Broadcast, merges_axes_of_the_common_cases) {
  const std::vector<Shape> same = {{2, 3, 4}, {2, 3, 4}};
  EXPECT_EQ(plan_broadcast({2, 3, 4}, same).axes.size(), 1U);
  const std::vector<Shape> scalar = {{2, 3, 4}, {}};
  EXPECT_EQ(plan_broadcast({2, 3, 4}, scalar).axes.size(), 1U);
  const std::vector<Shape> channel = {{8, 5, 5, 4}, {4}};
  EXPECT_EQ(plan_broadcast({8, 5, 5, 4}, channel).axes.size(), 2U);
}

TEST(Broadcast, every_element_finds_its_source) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const int rank = static_cast<int>(random() % 5);
    std::vector<std::int64_t> dims;
    for (int i = 0; i < rank; ++i) dims.push_back(static_cast<std::int64_t>(random() % 4));
    const Shape out(dims);
    std::vector<Shape> inputs;
    for (int k = 0; k < 3; ++k) {
      std::vector<std::int64_t> d(dims.begin() + static_cast<std::ptrdiff_t>(random() % (dims.size() + 1)),
                                  dims.end());
      for (auto& extent : d)
        if (random() % 3 == 0) extent = 1;
      inputs.emplace_back(d);
    }
    const BroadcastPlan plan = plan_broadcast(out, inputs);
    std::int64_t seen = 0;
    for_each_row(plan, [&](std::int64_t offset, const BroadcastPlan::Offsets& in) {
      for (std::int64_t i = 0; i < plan.row().extent; ++i, ++seen)
        for (std::size_t k = 0; k < 3; ++k)
          ASSERT_EQ(in[k] + i * plan.row().strides[k], source_of(offset + i, out, inputs[k]));
    });
    ASSERT_EQ(seen, out.elements());
  }
}

TEST(PostOpChain, applies_in_order) {
  // ((1, -5) + (1, 2)) relu -> (2, 0); * 3 -> (6, 0); clip to 1..5 -> (5, 1)
  Node node;
  node.post_ops = {{"Add", 0, 0, 0}, {"Relu"}, {"Mul", 0, 0, 1}, {"Clip", 1, 5}};
  const TensorType pair{DType::f32, {1, 2}};
  const TensorType one{DType::f32, {}};
  const NodeView view{node, {&pair, &one}, {&pair}, {nullptr, nullptr}};
  float y[] = {1, -5};
  const float add[] = {1, 2};
  const float factor = 3;
  const std::vector<const void*> inputs = {add, &factor};
  apply_post_ops(y, view, inputs);
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], 1);
}

TEST(Permute, moves_data_and_constants) {
  const std::vector<float> values = {0, 1, 2, 3, 4, 5};
  const std::vector<int> turn = {1, 0};
  const Tensor t = permuted_tensor(Tensor::of<float>({2, 3}, values), turn);
  EXPECT_EQ(t.shape(), Shape({3, 2}));
  EXPECT_EQ(t.to_double(), (std::vector<double>{0, 3, 1, 4, 2, 5}));

  Graph graph;
  const ValueId x = graph.add_value("x", TensorType{DType::f32, {1, 3, 2, 2}});
  const ValueId bias = graph.add_constant("bias", Tensor::of<float>({3, 1, 1}, std::vector<float>{1, 2, 3}));
  Node& node = graph.add_node("Add", "add", {x, bias}, {"y"});
  const std::vector<int> perm = {0, 2, 3, 1};
  const auto moved = permute_elementwise(graph, node, perm);
  ASSERT_TRUE(moved.has_value());
  EXPECT_EQ(*moved, perm);
  EXPECT_EQ(graph.type(node.inputs[1]).shape, Shape({1, 1, 1, 3}));

  const ValueId vector = graph.add_value("v", TensorType{DType::f32, {2}});
  Node& other = graph.add_node("Add", "add2", {x, vector}, {"z"});
  EXPECT_FALSE(permute_elementwise(graph, other, perm).has_value());
  EXPECT_EQ(other.inputs[1], vector);
}

}  // namespace
}  // namespace espalier
