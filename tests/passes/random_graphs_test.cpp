#include <cmath>
#include <gtest/gtest.h>

#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/graph_builder.hpp"

/// Random graphs in ONNX's axis order give the same results before and after optimise.
namespace espalier {
namespace {

using test::attributes;
using test::GraphBuilder;
using Ints = std::vector<std::int64_t>;

/// Grows a graph of rank-4 values by one random operator at a time.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : b(seed), random_(seed) {
    b.graph.onnx_order = true;
    add(b.input("x", {2, 4, 3, 5}), {2, 4, 3, 5});
    add(b.input("y", {2, 4, 3, 5}), {2, 4, 3, 5});
    for (int i = 0; i < 24; ++i) step();
    b.output(pool_.back().id);
    for (int i = 0; i < 2; ++i) b.output(pick().id);
  }
  GraphBuilder b;

 private:
  struct Item {
    ValueId id;
    Shape shape;
  };
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  const Item pick() { return pool_[static_cast<std::size_t>(below(static_cast<int>(pool_.size())))]; }
  void add(ValueId id, Shape shape) { pool_.push_back({id, std::move(shape)}); }

  void step() {
    const Item x = pick();
    static constexpr const char* kUnary[] = {"Relu", "Sigmoid", "Tanh", "Neg", "Identity", "Abs", "Softplus"};
    switch (below(13)) {
      case 0:
        return add(b.op(kUnary[below(7)], {x.id}), x.shape);
      case 1:
        return convolve(x);
      case 2:
        return combine(x);
      case 3:
        return normalise(x);
      case 4:
        return turn(x);
      case 5:
        return join(x);
      case 6:
        return reduce(x);
      case 7:
        return add(b.op("Mul", {x.id, b.op("Sigmoid", {x.id})}), x.shape);
      case 8:
        return by_channel(x);
      case 9:
        return add(b.op("Softmax", {x.id}, attributes({{"axis", std::int64_t{below(4)}}})), x.shape);
      case 10:
        return pool(x);
      case 11:
        return reshape(x);
      default:
        return add(b.op("Clip", {x.id, b.scalar(-0.5F), b.scalar(1)}), x.shape);
    }
  }

  void convolve(const Item& x) {
    const std::int64_t out = 1 + below(5);
    const int k = below(2) == 0 ? 1 : 3;
    const ValueId w =
        b.weights({out, x.shape[1], k, k}, 1 / std::sqrt(static_cast<float>(x.shape[1] * k * k)));
    const std::int64_t p = k / 2;
    Shape shape = x.shape;
    shape[1] = out;
    add(b.op("Conv", {x.id, w, b.weights({out})}, attributes({{"pads", Ints{p, p, p, p}}})), shape);
  }
  void combine(const Item& x) {
    for (int tries = 0; tries < 8; ++tries) {
      const Item y = pick();
      if (y.shape != x.shape) continue;
      return add(b.op(below(3) == 0 ? "Mul" : "Add", {x.id, y.id}), x.shape);
    }
  }
  void normalise(const Item& x) {
    const std::int64_t c = x.shape[1];
    add(b.op("BatchNormalization",
             {x.id, b.weights({c}, 0.5F, 1.5F), b.weights({c}), b.weights({c}), b.weights({c}, 0.5F, 2)}),
        x.shape);
  }
  void turn(const Item& x) {
    static const Ints kPerms[] = {{0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}, {1, 0, 2, 3}};
    const Ints& perm = kPerms[below(4)];
    const std::vector<int> p(perm.begin(), perm.end());
    add(b.op("Transpose", {x.id}, attributes({{"perm", perm}})), permuted(x.shape, p));
  }
  void join(const Item& x) {
    const int axis = below(4);
    Shape shape = x.shape;
    if (shape[axis] > 8) return;
    shape[axis] *= 2;
    add(b.op("Concat", {x.id, b.op("Neg", {x.id})}, attributes({{"axis", std::int64_t{axis}}})), shape);
  }
  void reduce(const Item& x) {
    const bool by_pool = below(2) == 0;
    const ValueId gate =
        by_pool ? b.op("GlobalAveragePool", {x.id})
                : b.op("ReduceMean", {x.id, b.ints({2, 3})}, attributes({{"keepdims", std::int64_t{1}}}));
    add(b.op("Mul", {x.id, b.op("Sigmoid", {gate})}), x.shape);
  }
  void by_channel(const Item& x) {
    add(b.op(below(2) == 0 ? "Add" : "Mul", {x.id, b.weights({x.shape[1], 1, 1})}), x.shape);
  }
  void pool(const Item& x) {
    add(b.op(below(2) == 0 ? "MaxPool" : "AveragePool", {x.id},
             attributes({{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}})),
        x.shape);
  }
  void reshape(const Item& x) {
    const Shape shape{x.shape[0], x.shape[1] * x.shape[2], 1, x.shape[3]};
    add(b.op("Reshape", {x.id, b.ints(shape.dims())}), shape);
  }

  std::mt19937 random_;
  std::vector<Item> pool_;
};

class RandomGraphs : public testing::TestWithParam<unsigned> {};

TEST_P(RandomGraphs, GiveEqualResultsWhenOptimised) {
  RandomGraph random(GetParam());
  const Graph plain = bind(random.b.graph, all_layers(), {});
  Graph better = plain;
  optimise(better, all_layers());
  std::map<std::string, Tensor> inputs;
  for (ValueId v : plain.inputs)
    inputs[plain.values[v].name] = random.b.random_tensor(plain.type(v).shape, -1, 1);
  const auto expected = evaluate(plain, all_layers(), inputs);
  const auto actual = evaluate(better, all_layers(), inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [name, tensor] : expected) {
    ASSERT_EQ(actual.at(name).type(), tensor.type());
    const auto e = tensor.as<float>();
    const auto a = actual.at(name).as<float>();
    double largest = 1e-3;
    for (float v : e) largest = std::max(largest, std::fabs(double(v)));
    for (std::size_t i = 0; i < e.size(); ++i)
      ASSERT_NEAR(a[i], e[i], 1e-5 * largest) << name << " element " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGraphs, testing::Range(1U, 61U));

}  // namespace
}  // namespace espalier
