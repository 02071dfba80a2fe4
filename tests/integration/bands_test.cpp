#include <gtest/gtest.h>
#include <random>

#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"
#include "runtime/starpu/network_session.hpp"
#include "runtime/task_graph/lower.hpp"

namespace espalier {
namespace {

/// Random small image networks: windows of all kinds, branches, concatenations, a squeeze-and-excitation
/// block and a dense end.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed) {}

  Graph build() {
    const std::int64_t height = pick(9, 23), width = pick(5, 12), channels = pick(1, 6);
    graph_.inputs = {graph_.add_value("x", TensorType{DType::f32, Shape{1, height, width, channels}})};
    ValueId v = graph_.inputs[0];
    for (int i = 0; i < 8; ++i) v = block(v);
    squeeze(v);
    Attributes transposed;
    transposed.set("transB", std::int64_t{1});
    const ValueId mean = add("GlobalAveragePool", {v});
    const ValueId flat = add("Flatten", {mean});
    graph_.outputs = {
        add("Gemm", {flat, constant(Shape{10, channels_of(v)}), constant(Shape{10})}, transposed)};
    graph_.outputs.push_back(v);
    return std::move(graph_);
  }

 private:
  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  ValueId constant(Shape shape) {
    Tensor t(DType::f32, std::move(shape));
    for (float& x : t.as_mutable<float>()) x = static_cast<float>(pick(-100, 100)) / 200;
    return graph_.add_constant("c" + std::to_string(graph_.values.size()), t);
  }
  /// Adds a node and infers what the shape rule says.
  ValueId add(const std::string& op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    const std::string name = "n" + std::to_string(graph_.nodes.size());
    const Node& node = graph_.add_node(op, name, std::move(inputs), {name + "_out"}, std::move(attributes));
    const ValueId out = node.outputs[0];
    graph_.values[static_cast<std::size_t>(out)].type = all_layers().at(node).infer(view_of(graph_, node))[0];
    return out;
  }
  std::int64_t channels_of(ValueId v) const { return graph_.type(v).shape[-1]; }

  ValueId window(ValueId v, const std::string& op) {
    const Shape shape = graph_.type(v).shape;
    const std::int64_t k = pick(1, 3);
    if (shape[1] < 5 || shape[2] < 5) return v;
    Attributes a;
    a.set("kernel_shape", std::vector<std::int64_t>{k, k});
    a.set("strides", std::vector<std::int64_t>(2, pick(1, 2)));
    if (pick(0, 2) == 0)
      a.set("auto_pad", std::string(pick(0, 1) == 0 ? "SAME_UPPER" : "SAME_LOWER"));
    else
      a.set("pads",
            std::vector<std::int64_t>{pick(0, k - 1), pick(0, k - 1), pick(0, k - 1), pick(0, k - 1)});
    if (op == "Conv") {
      if (pick(0, 3) == 0) a.set("dilations", std::vector<std::int64_t>{2, 1});
      return add(op, {v, constant(Shape{pick(1, 8), shape[3], k, k}), kAbsent}, a);
    }
    if (pick(0, 1) == 0) a.set("ceil_mode", std::int64_t{1});
    if (op == "AveragePool") a.set("count_include_pad", pick(0, 1));
    return add(op, {v}, a);
  }

  /// A 1x1 convolution that only a depthwise one reads, as fusion leaves them.
  ValueId pair(ValueId v) {
    const Shape shape = graph_.type(v).shape;
    const std::int64_t k = pick(1, 3), wide = pick(2, 9);
    if (shape[1] < 5 || shape[2] < 5) return v;
    Attributes a;
    a.set("group", wide);
    a.set("strides", std::vector<std::int64_t>(2, pick(1, 2)));
    a.set("pads", std::vector<std::int64_t>{pick(0, k - 1), pick(0, k - 1), pick(0, k - 1), pick(0, k - 1)});
    a.set("activation", std::string("Relu"));
    return add("PointwiseDepthwise",
               {v, constant(Shape{wide, shape[3], 1, 1}), constant(Shape{wide}),
                constant(Shape{wide, 1, k, k}), constant(Shape{wide})},
               a);
  }

  /// Width and height change places.
  ValueId transposed(ValueId v) {
    Attributes a;
    a.set("perm", std::vector<std::int64_t>{0, 2, 1, 3});
    return add("Transpose", {v}, a);
  }

  /// Self-attention over rows and columns: products of a shared and of a batched second operand.
  ValueId attention(ValueId v) {
    const std::int64_t c = channels_of(v), k = pick(1, 5);
    Attributes swap, last;
    swap.set("perm", std::vector<std::int64_t>{0, 1, 3, 2});
    last.set("axis", std::int64_t{-1});
    const ValueId q = add("Add", {add("MatMul", {v, constant(Shape{c, k})}), constant(Shape{k})});
    const ValueId keys = add("Transpose", {add("MatMul", {v, constant(Shape{c, k})})}, swap);
    return add("Add", {add("MatMul", {add("Softmax", {add("MatMul", {q, keys})}, last), v}), v});
  }

  ValueId block(ValueId v) {
    Attributes last;
    last.set("axis", std::int64_t{-1});
    switch (pick(0, 12)) {
      case 0:
        return window(v, "MaxPool");
      case 1:
        return window(v, "AveragePool");
      case 2:
        return add("Relu", {v});
      case 3:
        return add("Add", {add("Relu", {v}), v});
      case 4:
        return add("Concat", {add("Sigmoid", {v}), v}, last);
      case 5:
        return squeeze(v);
      case 6:
      case 7:
        return pair(v);
      case 8:
        return transposed(v);
      case 9:
      case 10:
        return attention(v);
      default:
        return window(v, "Conv");
    }
  }

  ValueId squeeze(ValueId v) {
    const std::int64_t c = channels_of(v);
    const ValueId mean = add("GlobalAveragePool", {v});
    return add("Mul", {v, add("Sigmoid", {add("Conv", {mean, constant(Shape{c, c, 1, 1})})})});
  }

  std::mt19937_64 random_;
  Graph graph_;
};

TEST(Bands, EqualTheWholeNetwork) {
  starpu::Machine machine;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Graph g = RandomNetwork(seed).build();
    Tensor x(DType::f32, g.type(g.inputs[0]).shape);
    std::mt19937_64 random(seed);
    for (float& f : x.as_mutable<float>()) f = static_cast<float>(random() % 1000) / 1000;
    const auto expected = evaluate(g, all_layers(), {{"x", x}});
    if (seed % 2 == 1) optimise(g, all_layers());  // with fused operations behind the nodes
    LoweringOptions options;
    options.workers = 2 + static_cast<unsigned>(seed % 3);
    options.flops_per_second = 1e5;  // every node is worth splitting
    options.target_seconds = seed % 4 < 2 ? 1e-9 : 1;
    const auto program = std::make_shared<const NetworkProgram>(lower(g, all_layers(), options));
    starpu::NetworkSession session(machine, program, all_layers());
    session.set_input(0, x);
    session.run();
    EXPECT_GT(program->variants[0].segments.size(), 3U);
    for (std::size_t k = 0; k < g.outputs.size(); ++k) {
      const Tensor& want = expected.at(g.values[static_cast<std::size_t>(g.outputs[k])].name);
      const Tensor got = session.output(k);
      ASSERT_EQ(got.type(), want.type()) << "seed " << seed;
      float largest = 0;
      for (const float f : want.as<float>()) largest = std::max(largest, std::abs(f));
      for (std::size_t i = 0; i < want.as<float>().size(); ++i)
        ASSERT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-5F * largest + 1e-6F) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace espalier
