#include "runtime/task_graph/network_tasks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/networks/network_list.hpp"
#include "graphs/passes/bind.hpp"
#include "layers/layer_list.hpp"
#include "runtime/task_graph/micro_batches.hpp"

namespace espalier {
namespace {

/// x [b, 8, 8, 3] -> Conv 4 channels 3x3 -> Relu -> GlobalAveragePool -> Flatten -> Gemm 5
NetworkUnits small_network(int units) {
  Graph g;
  g.name = "small";
  const ValueId x = g.add_value("x", TensorType{DType::f32, Shape{2, 8, 8, 3}});
  g.inputs = {x};
  const ValueId w = g.add_constant("w", Tensor(DType::f32, Shape{4, 3, 3, 3}));
  const Attributes pads = [] {
    Attributes a;
    a.set("pads", std::vector<std::int64_t>{1, 1, 1, 1});
    return a;
  }();
  const auto add = [&](const char* op, std::vector<ValueId> in, const char* out, Attributes a = {}) {
    return g.add_node(op, std::string(op) + "0", std::move(in), {out}, std::move(a)).outputs[0];
  };
  const ValueId conv = add("Conv", {x, w}, "c", pads);
  const ValueId relu = add("Relu", {conv}, "r");
  const ValueId pool = add("GlobalAveragePool", {relu}, "p");
  const ValueId flat = add("Flatten", {pool}, "f");
  const ValueId dense = g.add_constant("d", Tensor(DType::f32, Shape{4, 5}));
  g.outputs = {add("Gemm", {flat, dense}, "y")};
  NetworkUnits network;
  network.variants.push_back(std::make_shared<const Graph>(bind(g, all_layers(), {})));
  network.units.assign(static_cast<std::size_t>(units), 0);
  network.samples = 2.0 * units;
  return network;
}

std::vector<std::string> codelets(const TaskGraph& g) {
  std::vector<std::string> out;
  for (TaskId t = 0; t < g.task_count(); ++t) out.push_back(g.class_of(t).codelet);
  return out;
}

TEST(NetworkTasks, InferenceIsATaskANodeWithoutAliases) {
  const TaskGraph g = network_tasks(small_network(3), all_layers());
  EXPECT_EQ(g.task_count(), 3U * 4U);
  EXPECT_EQ(g.samples, 6);
  EXPECT_THAT(g.predecessors(3), testing::ElementsAre(2));  // Gemm reads the pool's output through Flatten
  EXPECT_TRUE(g.predecessors(4).empty());                   // the next micro-batch is independent
  EXPECT_GT(g.task(0).priority, g.task(3).priority);
}

TEST(NetworkTasks, TrainingHasBackwardTasksSumsAndUpdates) {
  NetworkTaskOptions options;
  options.training = true;
  options.replicas = 2;
  const TaskGraph g = network_tasks(small_network(4), all_layers(), options);
  const auto names = codelets(g);
  const auto count = [&](const char* name) { return std::count(names.begin(), names.end(), name); };
  EXPECT_EQ(count("conv2d_forward"), 4);
  EXPECT_EQ(count("conv2d_backward_weight"), 4);
  EXPECT_EQ(count("conv2d_backward_input"), 0);  // nobody needs the gradient of the picture
  EXPECT_EQ(count("gemm_backward_input"), 4);
  EXPECT_EQ(count("gemm_backward_weight"), 4);
  EXPECT_EQ(count("relu_backward"), 4);
  EXPECT_EQ(count("loss_backward"), 4);
  EXPECT_EQ(count("gradient_sum"), 2);  // two replicas, two parameters
  EXPECT_EQ(count("sgd_update"), 2);
  // forward of conv: 2 x (2 x 8 x 8 x 4) outputs x 27; so for its backward-weight
  for (TaskId t = 0; t < g.task_count(); ++t)
    if (names[t] == "conv2d_backward_weight") {
      EXPECT_EQ(g.class_of(t).flops.value, 2.0 * 512 * 27);
    }
}

TEST(NetworkTasks, CollectivesInPlaceOfTheTree) {
  NetworkTaskOptions options;
  options.training = true;
  options.replicas = 4;
  options.all_reduce = true;
  const TaskGraph g = network_tasks(small_network(8), all_layers(), options);
  const auto names = codelets(g);
  EXPECT_EQ(std::count(names.begin(), names.end(), "gradient_sum"), 0);
  EXPECT_EQ(std::count(names.begin(), names.end(), "gradient_all_reduce"), 2);  // two parameters
  for (TaskId t = 0; t < g.task_count(); ++t) {
    if (names[t] != "gradient_all_reduce") continue;
    // waits for the last micro-batch of each copy: 4 .. 7
    EXPECT_EQ(g.predecessors(t).size(), 4U);
    EXPECT_EQ(g.accesses(t).size(), 4U);  // three tokens, and the gradient that is updated
    EXPECT_THAT(g.class_of(t).signature, testing::HasSubstr("bytes of 4 replicas"));
    ASSERT_EQ(g.successors(t).size(), 1U);
    EXPECT_EQ(names[g.successors(t)[0]], "sgd_update");
  }
  options.replicas = 1;  // nothing to add up
  const auto one = codelets(network_tasks(small_network(8), all_layers(), options));
  EXPECT_EQ(std::count(one.begin(), one.end(), "gradient_all_reduce"), 0);
}

TEST(NetworkTasks, SplitsOutputChannels) {
  NetworkTaskOptions options;
  options.split = 2;
  const TaskGraph whole = network_tasks(small_network(1), all_layers());
  const TaskGraph g = network_tasks(small_network(1), all_layers(), options);
  EXPECT_EQ(g.task_count(), whole.task_count() + 2);  // Conv and Gemm in two parts
  EXPECT_DOUBLE_EQ(g.class_of(0).flops.value * 2, whole.class_of(0).flops.value);
  std::int64_t parts = 0, once = 0;
  for (DataId d = 0; d < g.data_count(); ++d) parts += g.data(d).size.value;
  for (DataId d = 0; d < whole.data_count(); ++d) once += whole.data(d).size.value;
  EXPECT_EQ(parts, once);
  options.training = true;
  const TaskGraph step = network_tasks(small_network(2), all_layers(), options);
  EXPECT_GT(step.task_count(), 2 * g.task_count());
  options.split = 1000;
  EXPECT_THROW(network_tasks(small_network(1), all_layers(), options), InputError);
}

TEST(NetworkTasks, ResNet50TrainingHasTheRightShape) {
  const auto parameters = placeholder_parameters();
  const Graph network = network_named("resnet50").build(*parameters);
  NetworkUnits units;
  units.variants.push_back(
      std::make_shared<const Graph>(bind(network, all_layers(), with_batch(network, {}, 8))));
  units.units.assign(4, 0);
  units.samples = 32;
  NetworkTaskOptions options;
  options.training = true;
  const TaskGraph g = network_tasks(units, all_layers(), options);
  double forward = 0, weight = 0;
  for (TaskId t = 0; t < g.task_count(); ++t) {
    if (g.class_of(t).codelet == "conv2d_forward") forward += g.class_of(t).flops.value;
    if (g.class_of(t).codelet == "conv2d_backward_weight") weight += g.class_of(t).flops.value;
  }
  EXPECT_NEAR(forward / 32 / 2, 4.09e9, 0.1e9);  // multiply-adds of an image, the dense layer aside
  EXPECT_EQ(forward, weight);
}

}  // namespace
}  // namespace espalier
