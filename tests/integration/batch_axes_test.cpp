#include "runtime/task_graph/batch_axes.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/run/run_network.hpp"
#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"
#include "tests/support/graph_builder.hpp"

namespace espalier {
namespace {

using test::attributes;
using test::GraphBuilder;
using ::testing::HasSubstr;
using Ints = std::vector<std::int64_t>;

/// x [N, 8, 6], N symbolic, through `body`.
GraphBuilder network(const std::function<ValueId(GraphBuilder&, ValueId)>& body,
                     Shape shape = {Shape::kDynamic, 8, 6}) {
  GraphBuilder b;
  b.output(body(b, b.input("x", std::move(shape))));
  return b;
}

ValueId reshape(GraphBuilder& b, ValueId v, const Ints& dims) {
  return b.op("Reshape", {v, b.ints(dims)});
}
ValueId transpose(GraphBuilder& b, ValueId v, const Ints& perm) {
  return b.op("Transpose", {v}, attributes({{"perm", perm}}));
}
ValueId softmax(GraphBuilder& b, ValueId v, std::int64_t axis) {
  return b.op("Softmax", {v}, attributes({{"axis", axis}}));
}

/// Windows of 4 rows, attention within each, and back.
ValueId windows(GraphBuilder& b, ValueId x) {
  const ValueId w = reshape(b, x, {-1, 4, 6});
  const ValueId scores = softmax(b, b.op("MatMul", {w, transpose(b, w, {0, 2, 1})}), -1);
  return reshape(b, b.op("MatMul", {scores, w}), {-1, 8, 6});
}

/// Tokens before samples, all rows in one matrix: samples lie interleaved in between.
ValueId tokens_first(GraphBuilder& b, ValueId x) {
  const ValueId rows = reshape(b, transpose(b, x, {1, 0, 2}), {-1, 6});
  const ValueId y = b.op("Add", {b.op("MatMul", {rows, b.weights({6, 6})}), b.weights({6})});
  return transpose(b, reshape(b, y, {8, -1, 6}), {1, 0, 2});
}

/// Query and key stacked along a new axis in front, taken apart by Gather.
ValueId stacked(GraphBuilder& b, ValueId x) {
  const ValueId both = transpose(b, reshape(b, x, {-1, 8, 2, 3}), {2, 0, 1, 3});
  const auto part = [&](std::int64_t i) {
    Attributes a = attributes({{"axis", std::int64_t{0}}});
    const ValueId index = b.graph.add_constant(
        "i" + std::to_string(i) + std::to_string(b.graph.values.size()), Tensor::scalar<std::int64_t>(i));
    return b.op("Gather", {both, index}, a);
  };
  return b.op("MatMul", {part(0), transpose(b, part(1), {0, 2, 1})});
}

/// Rows rolled by one within each sample.
ValueId rolled(GraphBuilder& b, ValueId x) {
  const auto slice = [&](std::int64_t from, std::int64_t to) {
    return b.op("Slice", {x, b.ints({from}), b.ints({to}), b.ints({1}), b.ints({1})});
  };
  return b.op("Concat", {slice(1, 8), slice(0, 1)}, attributes({{"axis", std::int64_t{1}}}));
}

TEST(BatchAxes, SamplesThatStayApartAreCut) {
  const std::vector<std::pair<const char*, std::function<ValueId(GraphBuilder&, ValueId)>>> bodies = {
      {"softmax", [](GraphBuilder& b, ValueId x) { return softmax(b, x, 1); }},
      {"windows", windows},
      {"tokens first", tokens_first},
      {"stacked", stacked},
      {"rolled", rolled},
      {"all",
       [](GraphBuilder& b, ValueId x) { return stacked(b, rolled(b, tokens_first(b, windows(b, x)))); }}};
  for (const auto& [name, body] : bodies) {
    SCOPED_TRACE(name);
    GraphBuilder b = network(body);
    const BatchAxes axes = find_batch_axes(b.graph, all_layers(), {});
    ASSERT_TRUE(axes.can_cut()) << axes.reason;
    EXPECT_EQ(axes.inputs, std::vector<int>{0});
    EXPECT_EQ(axes.outputs, std::vector<int>{0});
    RunRequest request;
    request.batch = 7;
    request.micro_batch = 2;
    request.iterations = 1;
    request.inputs["x"] = random_tensor({DType::f32, Shape{7, 8, 6}}, 3);
    const RunReport report = run_network(b.graph, all_layers(), request);
    EXPECT_EQ(report.micro_batches, 4U);  // 2 + 2 + 2 + 1
    Binding whole;
    whole.batch = 7;
    const Tensor want =
        evaluate(bind(b.graph, all_layers(), whole), all_layers(), request.inputs).begin()->second;
    const Tensor got = report.outputs.begin()->second;
    ASSERT_EQ(got.type(), want.type());
    for (std::size_t i = 0; i < want.as<float>().size(); ++i)
      ASSERT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-5F);
  }
}

TEST(BatchAxes, MixedSamplesAreNot) {
  const auto slice = [](GraphBuilder& b, ValueId x, std::int64_t from, std::int64_t to, std::int64_t step) {
    return b.op("Slice", {x, b.ints({from}), b.ints({to}), b.ints({0}), b.ints({step})});
  };
  const std::vector<std::pair<const char*, std::function<ValueId(GraphBuilder&, ValueId)>>> bodies = {
      {"softmax over samples", [](GraphBuilder& b, ValueId x) { return softmax(b, x, 0); }},
      {"reversed", [&](GraphBuilder& b, ValueId x) { return slice(b, x, -1, -1000, -1); }},
      {"doubled and paired",
       [](GraphBuilder& b, ValueId x) {
         const ValueId two = b.op("Concat", {x, x}, attributes({{"axis", std::int64_t{0}}}));
         return reshape(b, two, {-1, 16, 6});
       }},
      {"attention over interleaved rows",
       [](GraphBuilder& b, ValueId x) {
         return reshape(b, softmax(b, reshape(b, transpose(b, x, {1, 0, 2}), {-1, 6}), 0), {-1, 8, 6});
       }},
      {"rows of other samples",
       [](GraphBuilder& b, ValueId x) {
         return reshape(b, transpose(b, x, {1, 0, 2}), {-1, 8, 6});
       }},
      {"minus the mean",
       [](GraphBuilder& b, ValueId x) {
         return b.op("Sub", {x, b.op("ReduceMean", {x}, attributes({{"axes", Ints{0}}}))});
       }},
      {"selected", [](GraphBuilder& b, ValueId x) {
         return b.op("Gather", {x, b.ints({0, 0, 1})}, attributes({{"axis", std::int64_t{0}}}));
       }}};
  for (const auto& [name, body] : bodies) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(find_batch_axes(network(body).graph, all_layers(), {}).can_cut());
  }
  GraphBuilder b = network([](GraphBuilder& g, ValueId x) { return softmax(g, x, 0); });
  EXPECT_THAT(find_batch_axes(b.graph, all_layers(), {}).reason, HasSubstr("across the samples"));
}

TEST(BatchAxes, ANumberThatDependsOnTheBatchIsNotCut) {
  // x / N
  GraphBuilder b = network([](GraphBuilder& g, ValueId x) {
    const ValueId shape = g.op("Shape", {x});
    const ValueId n = g.op("Gather", {shape, g.ints({0})}, attributes({{"axis", std::int64_t{0}}}));
    return g.op("Div", {x, g.op("Cast", {n}, attributes({{"to", std::int64_t{1}}}))});
  });
  EXPECT_THAT(find_batch_axes(b.graph, all_layers(), {}).reason, HasSubstr("size of the batch"));
}

TEST(BatchAxes, AModelOfOneSampleRunsSampleBySample) {
  // [1, 8, 6] -> [8, 1, 6] -> a constant [8, 6], which has no place for a batch
  GraphBuilder b = network(
      [](GraphBuilder& g, ValueId x) {
        const ValueId rows = reshape(g, transpose(g, x, {1, 0, 2}), {8, 6});
        return reshape(g, softmax(g, rows, 0), {1, 8, 6});
      },
      {1, 8, 6});
  RunRequest request;
  request.batch = 3;
  request.iterations = 1;
  request.inputs["x"] = random_tensor({DType::f32, Shape{3, 8, 6}}, 3);
  const RunReport report = run_network(b.graph, all_layers(), request);
  EXPECT_EQ(report.micro_batches, 3U);
  EXPECT_FALSE(report.uncut_because.empty());
  const Tensor got = report.outputs.begin()->second;
  ASSERT_EQ(got.shape(), (Shape{3, 8, 6}));
  const Graph one = bind(b.graph, all_layers(), {});
  for (std::int64_t s = 0; s < 3; ++s) {
    Tensor x(DType::f32, Shape{1, 8, 6});
    for (std::size_t i = 0; i < 48; ++i)
      x.as_mutable<float>()[i] = request.inputs["x"].as<float>()[static_cast<std::size_t>(s) * 48 + i];
    const Tensor want = evaluate(one, all_layers(), {{"x", x}}).begin()->second;
    for (std::size_t i = 0; i < 48; ++i)
      ASSERT_NEAR(got.as<float>()[static_cast<std::size_t>(s) * 48 + i], want.as<float>()[i], 1e-6F);
  }
}

}  // namespace
}  // namespace espalier
