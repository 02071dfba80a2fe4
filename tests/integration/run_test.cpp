#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/run/run_network.hpp"
#include "graphs/base/error.hpp"
#include "graphs/ir/npy.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"
#include "layers/layer_list.hpp"
#include "runtime/task_graph/micro_batches.hpp"
#include "tests/support/shared_data.hpp"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// x [N, 4] (N symbolic) through the operators named, each from the one before.
Graph row_network(const std::vector<std::pair<std::string, std::int64_t>>& ops) {
  Graph g;
  g.name = "rows";
  ValueId v = g.add_value("x", TensorType{DType::f32, Shape{Shape::kDynamic, 4}});
  g.values[static_cast<std::size_t>(v)].dim_names = {"N", ""};
  g.inputs = {v};
  for (const auto& [op, axis] : ops) {
    Attributes a;
    if (op == "Softmax") a.set("axis", axis);
    v = g.add_node(op, op + std::to_string(g.nodes.size()), {v}, {"y" + std::to_string(g.nodes.size())}, a)
            .outputs[0];
  }
  g.outputs = {v};
  return g;
}

TEST(RunNetwork, CutsTheBatchAndEqualsEvaluation) {
  const Graph g = row_network({{"Sigmoid", 0}, {"Softmax", -1}, {"Sqrt", 0}});
  for (const std::int64_t micro_batch : {1, 2, 3, 7}) {
    RunRequest request;
    request.batch = 7;
    request.micro_batch = micro_batch;
    request.iterations = 2;
    request.inputs["x"] = random_tensor({DType::f32, Shape{7, 4}}, 5);
    const RunReport report = run_network(g, all_layers(), request);
    EXPECT_EQ(report.micro_batches, (7 + micro_batch - 1) / micro_batch);
    Binding binding;
    binding.dims["N"] = 7;
    const auto expected = evaluate(bind(g, all_layers(), binding), all_layers(), request.inputs);
    const auto& [name, want] = *expected.begin();
    const Tensor& got = report.outputs.at(name);
    ASSERT_EQ(got.type(), want.type());
    for (std::size_t i = 0; i < 28; ++i) EXPECT_FLOAT_EQ(got.as<float>()[i], want.as<float>()[i]);
  }
}

TEST(RunNetwork, NamesAnInputThatDoesNotFit) {
  const Graph g = row_network({{"Relu", 0}});
  RunRequest request;
  request.inputs["x"] = random_tensor({DType::f32, Shape{2, 5}}, 1);
  EXPECT_THROW(run_network(g, all_layers(), request), InputError);
  request.inputs = {{"z", random_tensor({DType::f32, Shape{2, 4}}, 1)}};
  try {
    run_network(g, all_layers(), request);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("it has x"));
  }
  request.inputs.clear();
  request.batch = std::int64_t{1} << 55;
  EXPECT_THROW(run_network(g, all_layers(), request), InputError);
}

TEST(RunNetwork, CutsARecurrentNetworkAlongItsSecondAxis) {
  ESPALIER_SHARED_OR_SKIP(model, "models/gru_bidirectional.onnx");
  ESPALIER_SHARED_OR_SKIP(input, "models/gru_bidirectional.input.npy");
  ESPALIER_SHARED_OR_SKIP(output, "models/gru_bidirectional.output.npy");
  RunRequest request;
  request.micro_batch = 1;
  request.iterations = 1;
  request.inputs["x"] = read_npy(input);
  const RunReport report = run_network(import_onnx(model, all_layers()), all_layers(), request);
  EXPECT_EQ(report.micro_batches, 4U);
  const Tensor want = read_npy(output), got = report.outputs.at("y");
  ASSERT_EQ(got.type(), want.type());
  for (std::size_t i = 0; i < want.as<float>().size(); ++i)
    EXPECT_NEAR(got.as<float>()[i], want.as<float>()[i], 1e-5);
}

}  // namespace
}  // namespace espalier
