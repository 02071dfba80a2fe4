#include "layers/norm/norm.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

#include "graphs/base/error.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/common/permute.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

std::mt19937 engine(11);

std::int64_t pick(std::int64_t first, std::int64_t last) {
  return std::uniform_int_distribution<std::int64_t>(first, last)(engine);
}

Tensor random_tensor(const Shape& shape, float low = -1, float high = 1) {
  Tensor t(DType::f32, shape);
  std::uniform_real_distribution<float> uniform(low, high);
  for (float& v : t.as_mutable<float>()) v = uniform(engine);
  return t;
}

Node node_of(Graph& graph, const std::string& op, const Attributes& attributes, std::size_t inputs,
             int outputs, const std::vector<PostOp>& post_ops = {}) {
  std::vector<ValueId> ids;
  for (std::size_t i = 0; i < inputs; ++i) ids.push_back(graph.add_value("x" + std::to_string(i)));
  std::vector<std::string> names;
  for (int o = 0; o < outputs; ++o) names.push_back("y" + std::to_string(o));
  Node node = graph.add_node(op, "node", ids, names, attributes);
  node.post_ops = post_ops;
  return node;
}

std::vector<Tensor> run(const std::string& op, const Attributes& attributes,
                        const std::vector<Tensor>& inputs, bool reference, int outputs = 1,
                        const std::vector<PostOp>& post_ops = {}) {
  Graph graph;
  const Node node = node_of(graph, op, attributes, inputs.size(), outputs, post_ops);
  KernelOptions options;
  options.reference_only = reference;
  return evaluate_node(graph, node, all_layers(), inputs, options);
}

void expect_fast_is_reference(const std::string& op, const Attributes& attributes,
                              const std::vector<Tensor>& inputs, int outputs = 1,
                              const std::vector<PostOp>& post_ops = {}) {
  SCOPED_TRACE(op + " of " + inputs[0].type().to_string());
  const auto fast = run(op, attributes, inputs, false, outputs, post_ops);
  const auto slow = run(op, attributes, inputs, true, outputs, post_ops);
  for (std::size_t o = 0; o < fast.size(); ++o) {
    ASSERT_EQ(fast[o].type(), slow[o].type());
    for (std::size_t i = 0; i < fast[o].as<float>().size(); ++i) {
      const float want = slow[o].as<float>()[i];
      ASSERT_NEAR(fast[o].as<float>()[i], want, 2e-5 * std::max(1.0F, std::abs(want))) << i;
    }
  }
}

Shape random_shape(int rank) {
  std::vector<std::int64_t> dims;
  for (int i = 0; i < rank; ++i) dims.push_back(pick(1, 7));
  dims.back() = pick(1, 40);
  return Shape(dims);
}

Attributes with(std::initializer_list<std::pair<const char*, Attribute>> list) {
  Attributes attributes;
  for (const auto& [name, value] : list) attributes.set(name, value);
  return attributes;
}

TEST(Norm, BatchNormalizationWithFusedBounds) {
  for (int i = 0; i < 30; ++i) {
    const Shape shape = random_shape(static_cast<int>(pick(2, 5)));
    const Shape c{shape[-1]};
    std::vector<PostOp> fused;
    if (i % 3 == 1) fused.push_back({"Relu"});
    if (i % 3 == 2) fused.push_back({"Clip", -0.25F, 0.5F});
    expect_fast_is_reference(
        "BatchNormalization", with({{"epsilon", 1e-3}}),
        {random_tensor(shape), random_tensor(c), random_tensor(c), random_tensor(c), random_tensor(c, 0, 2)},
        1, fused);
  }
}

TEST(Norm, BatchNormalizationTrainingKeepsRunningStatistics) {
  // channel 1, 3: mean 2, variance 1; running 0.9 * 10 + 0.1 * 2 = 9.2 and 0.9 * 4 + 0.1 * 1 = 3.7
  const auto one = [](float v) { return Tensor::of<float>(Shape{1}, std::span<const float>(&v, 1)); };
  const std::vector<float> x{1, 3};
  const auto out = run("BatchNormalization", with({{"training_mode", std::int64_t{1}}, {"epsilon", 0.0}}),
                       {Tensor::of<float>(Shape{2, 1}, x), one(2), one(5), one(10), one(4)}, false, 3);
  EXPECT_FLOAT_EQ(out[0].as<float>()[0], 3);
  EXPECT_FLOAT_EQ(out[0].as<float>()[1], 7);
  EXPECT_FLOAT_EQ(out[1].as<float>()[0], 9.2F);
  EXPECT_FLOAT_EQ(out[2].as<float>()[0], 3.7F);
}

TEST(Norm, InstanceAndGroupNormalization) {
  for (int i = 0; i < 30; ++i) {
    Shape shape = random_shape(static_cast<int>(pick(2, 5)));
    const Tensor c = random_tensor(Shape{shape[-1]});
    if (shape.elements(1, shape.rank() - 1) > 1)
      expect_fast_is_reference("InstanceNormalization", {}, {random_tensor(shape, 3, 5), c, c});
    const std::int64_t groups = pick(1, 4);
    shape[-1] = groups * pick(2, 6);
    for (std::int64_t n : {groups, shape[-1]})
      expect_fast_is_reference("GroupNormalization", with({{"num_groups", groups}}),
                               {random_tensor(shape), random_tensor(Shape{n}), random_tensor(Shape{n})});
  }
}

TEST(Norm, LayerNormalization) {
  for (int i = 0; i < 60; ++i) {
    const Shape shape = random_shape(static_cast<int>(pick(1, 4)));
    const std::int64_t axis = pick(-shape.rank(), shape.rank() - 1);
    const int first = normalise_axis(axis, shape.rank());
    const Shape row(std::vector<std::int64_t>(shape.begin() + first, shape.end()));
    if (row.elements() < 2) continue;
    std::vector<Tensor> inputs{random_tensor(shape), random_tensor(row)};
    if (i % 2 == 0) inputs.push_back(random_tensor(i % 4 == 0 ? row : Shape{1}));
    expect_fast_is_reference("LayerNormalization", with({{"axis", axis}, {"epsilon", 1e-2}}), inputs, 3);
  }
}

TEST(Norm, LayerNormalizationFarFromZero) {
  // x = 10000 + {-1, 1, ...}: mean 10000, variance 1, so y is -1, 1 whatever the size of the mean
  std::vector<float> x(64);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 9999.0F : 10001.0F;
  const std::vector<float> ones(64, 1.0F);
  const Tensor y = run("LayerNormalization", {},
                       {Tensor::of<float>(Shape{1, 64}, x), Tensor::of<float>(Shape{64}, ones)}, false)[0];
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y.as<float>()[i], i % 2 == 0 ? -1 : 1, 1e-4);
}

TEST(Norm, LocalResponseNormalization) {
  for (int i = 0; i < 30; ++i)
    expect_fast_is_reference("LRN",
                             with({{"size", pick(1, 9)}, {"beta", i % 2 == 0 ? 0.75 : 0.6}, {"alpha", 0.3}}),
                             {random_tensor(random_shape(static_cast<int>(pick(2, 4))))});
}

TEST(Norm, LpNormalizationDividesByTheNorm) {
  // 3, 4: 1-norm 7, 2-norm 5; a row of zeros stays
  const std::vector<float> x{3, 4, 0, 0};
  const Tensor t = Tensor::of<float>(Shape{2, 2}, x);
  EXPECT_FLOAT_EQ(run("LpNormalization", with({{"p", std::int64_t{1}}}), {t}, false)[0].as<float>()[0],
                  3 / 7.0F);
  EXPECT_FLOAT_EQ(run("LpNormalization", {}, {t}, false)[0].as<float>()[1], 0.8F);
  EXPECT_EQ(run("LpNormalization", {}, {t}, false)[0].as<float>()[2], 0);
}

TEST(Norm, PermutationsMoveThrough) {
  const Tensor x = random_tensor(Shape{2, 3, 4, 5});
  struct Moved {
    const char* op;
    Attributes attributes;
    std::vector<int> perm;
    std::vector<Tensor> more;
  };
  const Moved cases[] = {
      {"Softmax", with({{"axis", std::int64_t{1}}}), {3, 0, 2, 1}, {}},
      {"LogSoftmax", {}, {3, 0, 2, 1}, {}},
      {"MeanVarianceNormalization", {}, {3, 0, 2, 1}, {}},
      {"LpNormalization", with({{"axis", std::int64_t{2}}}), {3, 0, 2, 1}, {}},
      {"LayerNormalization", with({{"axis", std::int64_t{-1}}}), {2, 0, 1, 3}, {random_tensor(Shape{5})}},
  };
  for (const Moved& c : cases) {
    SCOPED_TRACE(c.op);
    Graph graph;
    Node node = node_of(graph, c.op, c.attributes, 1 + c.more.size(), 1);
    const auto perm = all_layers().at(node).permute(graph, node, c.perm);
    ASSERT_TRUE(perm);
    std::vector<Tensor> inputs{x}, moved{permuted_tensor(x, c.perm)};
    inputs.insert(inputs.end(), c.more.begin(), c.more.end());
    moved.insert(moved.end(), c.more.begin(), c.more.end());
    const Tensor want = permuted_tensor(run(c.op, c.attributes, inputs, false)[0], *perm);
    const Tensor got = run(c.op, node.attributes, moved, false)[0];
    ASSERT_EQ(got.type(), want.type());
    for (std::size_t i = 0; i < want.as<float>().size(); ++i)
      ASSERT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-5);
  }
}

TEST(Norm, SoftmaxRowsAndColumns) {
  for (int i = 0; i < 60; ++i) {
    const Shape shape = random_shape(static_cast<int>(pick(1, 4)));
    const Attributes axis = with({{"axis", pick(-shape.rank(), shape.rank() - 1)}});
    expect_fast_is_reference("Softmax", axis, {random_tensor(shape, -30, 30)});
    expect_fast_is_reference("LogSoftmax", axis, {random_tensor(shape, -30, 30)});
  }
}

TEST(Norm, SoftmaxOfMaskedEntriesIsZero) {
  const std::vector<float> x{0, -INFINITY, 0};
  const Tensor y = run("Softmax", {}, {Tensor::of<float>(Shape{3}, x)}, false)[0];
  EXPECT_FLOAT_EQ(y.as<float>()[0], 0.5F);
  EXPECT_EQ(y.as<float>()[1], 0);
}

TEST(Norm, BadInputIsRefused) {
  const Tensor x = random_tensor(Shape{2, 3}), c = random_tensor(Shape{2});
  EXPECT_THROW(run("BatchNormalization", {}, {x, c, c, c, c}, false), InputError);
  EXPECT_THROW(run("InstanceNormalization", {}, {x, c, c}, false), InputError);
  EXPECT_THROW(run("GroupNormalization", with({{"num_groups", std::int64_t{2}}}), {x, c, c}, false),
               InputError);
  EXPECT_THROW(run("LayerNormalization", {}, {x, c}, false), InputError);
  EXPECT_THROW(run("LayerNormalization", with({{"axis", std::int64_t{2}}}), {x, c}, false), InputError);
  EXPECT_THROW(run("LRN", with({{"size", std::int64_t{0}}}), {x}, false), InputError);
  EXPECT_THROW(run("LpNormalization", with({{"p", std::int64_t{3}}}), {x}, false), InputError);
  EXPECT_THROW(run("Softmax", with({{"axis", std::int64_t{2}}}), {x}, false), InputError);
  EXPECT_THROW(run("Softmax", {}, {Tensor::scalar<float>(1)}, false), InputError);
  EXPECT_THROW(run("Softmax", {}, {Tensor(DType::i32, Shape{2})}, false), InputError);
}

}  // namespace
}  // namespace espalier
