#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "graphs/base/error.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/common/permute.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

constexpr const char* kTransformations[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};

Tensor vector_of(std::vector<float> values) {
  return Tensor::of<float>(Shape{static_cast<std::int64_t>(values.size())}, std::span<const float>(values));
}

Tensor random_tensor(const Shape& shape, std::mt19937& random) {
  Tensor t(DType::f32, shape);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& v : t.as_mutable<float>()) v = uniform(random);
  return t;
}

Tensor run(const Attributes& attributes, const std::vector<Tensor>& inputs, bool reference = false) {
  Graph graph;
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < inputs.size(); ++i) ids.push_back(graph.add_value("x" + std::to_string(i)));
  const Node node = graph.add_node("Resize", "node", ids, {"y"}, attributes);
  KernelOptions options;
  options.reference_only = reference;
  return evaluate_node(graph, node, all_layers(), inputs, options)[0];
}

TEST(Resize, PassesEqualTheFullSum) {
  std::mt19937 random(3);
  const auto pick = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  for (int i = 0; i < 300; ++i) {
    Attributes attributes;
    attributes.set("mode",
                   std::string(std::array{"nearest", "linear", "cubic"}[static_cast<std::size_t>(pick(3))]));
    attributes.set("coordinate_transformation_mode", std::string(kTransformations[pick(7)]));
    attributes.set("nearest_mode",
                   std::string(std::array{"floor", "ceil", "round_prefer_floor",
                                          "round_prefer_ceil"}[static_cast<std::size_t>(pick(4))]));
    attributes.set("antialias", std::int64_t{pick(2)});
    attributes.set("exclude_outside", std::int64_t{pick(2)});
    attributes.set("extrapolation_value", 7.0);
    const Tensor x = random_tensor(Shape{1 + pick(2), 1 + pick(6), 1 + pick(6), 1 + pick(4)}, random);
    const Tensor roi = vector_of({0, 0.1F, -0.2F, 0, 1, 0.8F, 1.1F, 1});
    const auto scale = [&] { return 0.4F + 0.3F * static_cast<float>(pick(7)); };
    const std::vector<Tensor> inputs{x, roi, vector_of({1, scale(), scale(), 1})};
    const Tensor fast = run(attributes, inputs), slow = run(attributes, inputs, true);
    ASSERT_EQ(fast.type(), slow.type());
    for (std::size_t k = 0; k < fast.as<float>().size(); ++k)
      ASSERT_NEAR(fast.as<float>()[k], slow.as<float>()[k], 1e-5) << "case " << i << " element " << k;
  }
}

TEST(Resize, LinearDoublesAsWorkedOutByHand) {
  // scale 2, half_pixel: positions -0.25, 0.25, 0.75, 1.25 of (1, 3), clamped outside: 1, 1.5, 2.5, 3
  Attributes attributes;
  attributes.set("mode", std::string("linear"));
  const Tensor y = run(attributes, {vector_of({1, 3}), {}, vector_of({2})});
  EXPECT_EQ(std::vector<float>(y.as<float>().begin(), y.as<float>().end()),
            (std::vector<float>{1, 1.5F, 2.5F, 3}));
}

TEST(Resize, AspectRatioPolicyScalesBothAxes) {
  // [6, 4] into [7, 8]: not_larger scales by 7/6 to [7, round(4.67) = 5], not_smaller by 2 to [12, 8]
  std::mt19937 random(1);
  const Tensor x = random_tensor(Shape{6, 4}, random);
  const Tensor sizes = Tensor::of<std::int64_t>(Shape{2}, std::vector<std::int64_t>{7, 8});
  Attributes attributes;
  attributes.set("mode", std::string("linear"));
  attributes.set("keep_aspect_ratio_policy", std::string("not_larger"));
  EXPECT_EQ(run(attributes, {x, {}, {}, sizes}).shape(), (Shape{7, 5}));
  attributes.set("keep_aspect_ratio_policy", std::string("not_smaller"));
  EXPECT_EQ(run(attributes, {x, {}, {}, sizes}).shape(), (Shape{12, 8}));
}

TEST(Resize, PermutationMovesThrough) {
  std::mt19937 random(5);
  const Tensor x = random_tensor(Shape{1, 3, 5, 4}, random);
  Attributes attributes;
  attributes.set("mode", std::string("cubic"));
  const std::vector<int> perm{0, 2, 3, 1};
  Graph graph;
  const ValueId in = graph.add_value("x", x.type());
  const ValueId scales = graph.add_constant("scales", vector_of({1, 1, 1.7F, 2.5F}));
  Node node = graph.add_node("Resize", "node", {in, kAbsent, scales}, {"y"}, attributes);
  const Tensor plain = run(attributes, {x, {}, *graph.constant(scales)});
  ASSERT_TRUE(all_layers().at(node).permute(graph, node, perm));
  const Tensor moved = run(node.attributes, {permuted_tensor(x, perm), {}, *graph.constant(node.inputs[2])});
  const Tensor expected = permuted_tensor(plain, perm);
  ASSERT_EQ(moved.type(), expected.type());
  for (std::size_t k = 0; k < moved.as<float>().size(); ++k)
    ASSERT_NEAR(moved.as<float>()[k], expected.as<float>()[k], 1e-5);
}

TEST(Resize, BadRequestsAreRefused) {
  std::mt19937 random(1);
  const Tensor x = random_tensor(Shape{2, 2}, random);
  const Tensor sizes = Tensor::of<std::int64_t>(Shape{2}, std::vector<std::int64_t>{2, 2});
  Attributes attributes;
  EXPECT_THROW(run(attributes, {x}), InputError);
  EXPECT_THROW(run(attributes, {x, {}, vector_of({1, 1}), sizes}), InputError);
  EXPECT_THROW(run(attributes, {x, {}, vector_of({1})}), InputError);
  EXPECT_THROW(run(attributes, {x, {}, vector_of({1, -1})}), InputError);
  EXPECT_THROW(run(attributes, {x, {}, vector_of({1, std::nanf("")})}), InputError);
  EXPECT_THROW(run(attributes, {x, {}, vector_of({1, 1e30F})}), InputError);
  attributes.set("mode", std::string("bilinear"));
  EXPECT_THROW(run(attributes, {x, {}, vector_of({1, 2})}), InputError);
}

}  // namespace
}  // namespace espalier
