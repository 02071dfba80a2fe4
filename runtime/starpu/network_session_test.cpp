#include "runtime/starpu/network_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/passes/evaluate.hpp"
#include "runtime/task_graph/lower.hpp"
#include "tests/support/task_layers.hpp"

namespace espalier::starpu {
namespace {

using test::random_task_graph;
using test::random_task_inputs;
using test::task_layers;
using ::testing::HasSubstr;

void expect_equal(const Tensor& a, const Tensor& b, const std::string& what) {
  ASSERT_EQ(a.type(), b.type()) << what;
  for (std::size_t i = 0; i < a.as<float>().size(); ++i)
    ASSERT_EQ(a.as<float>()[i], b.as<float>()[i]) << what << " element " << i;
}

void give(NetworkSession& session, const Graph& g, const std::map<std::string, Tensor>& inputs) {
  for (std::size_t k = 0; k < g.inputs.size(); ++k)
    session.set_input(k, inputs.at(g.values[static_cast<std::size_t>(g.inputs[k])].name));
}

TEST(NetworkSession, EqualsEvaluationOnRandomGraphs) {
  Machine machine({"lws", 0});
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Graph g = random_task_graph(seed, 25, 2);
    LoweringOptions options;
    options.workers = 1 + seed % 3;
    options.target_seconds = seed % 2 == 0 ? 1e-9 : 4e-6;
    const auto program = std::make_shared<const NetworkProgram>(lower(g, task_layers(), options));
    NetworkSession session(machine, program, task_layers());
    for (std::uint64_t round = 0; round < 2; ++round) {
      const auto inputs = random_task_inputs(g, seed + 100 * round);
      give(session, g, inputs);
      session.run();
      const auto expected = evaluate(g, task_layers(), inputs);
      for (std::size_t k = 0; k < g.outputs.size(); ++k)
        expect_equal(session.output(k), expected.at(g.values[static_cast<std::size_t>(g.outputs[k])].name),
                     "seed " + std::to_string(seed));
    }
  }
}

/// Micro-batches of 2, 2 and 1 of a batch of 5, made by hand: the graphs differ in axis 0 only.
MicroBatches cut_by_hand(std::uint64_t seed) {
  MicroBatches cut;
  cut.batch = 5;
  for (const std::int64_t samples : {2, 1}) {
    Graph g = random_task_graph(seed, 20, samples);
    cut.variants.push_back({std::make_shared<const Graph>(std::move(g)), samples});
  }
  cut.units = {0, 0, 1};
  cut.input_axes.assign(cut.variants[0].graph->inputs.size(), 0);
  cut.output_axes.assign(cut.variants[0].graph->outputs.size(), 0);
  return cut;
}

TEST(NetworkSession, SlotsAreReusedByLaterMicroBatches) {
  Graph g;
  MicroBatches cut;
  cut.batch = 5;
  for (const std::int64_t samples : {2, 1}) {
    Graph part;
    const TensorType type{DType::f32, Shape{samples, 3}};
    ValueId v = part.add_value("x", type);
    part.inputs = {v};
    for (int i = 0; i < 6; ++i) {
      v = part.add_node("Affine", "a" + std::to_string(i), {v}, {"v" + std::to_string(i)}).outputs[0];
      part.values[static_cast<std::size_t>(v)].type = type;
    }
    part.outputs = {v};
    cut.variants.push_back({std::make_shared<const Graph>(std::move(part)), samples});
  }
  cut.units = {0, 0, 1};
  cut.input_axes = cut.output_axes = {0};
  Machine machine;
  for (const std::uint32_t slots : {1U, 2U, 3U}) {
    LoweringOptions options;
    options.slots = slots;
    options.target_seconds = 1e-9;
    NetworkSession session(
        machine, std::make_shared<const NetworkProgram>(lower(cut, task_layers(), options)), task_layers());
    EXPECT_EQ(session.input_type(0).shape, (Shape{5, 3}));
    std::vector<float> x(15);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    session.set_input(0, Tensor::of<float>(Shape{5, 3}, x));
    for (int round = 0; round < 20; ++round) session.run();
    // six times x -> 2 x + 1 is 64 x + 63
    const Tensor y = session.output(0);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y.as<float>()[i], 64 * x[i] + 63);
  }
}

TEST(NetworkSession, AnErrorOfAKernelComesOutAfterTheRunAndTheSessionGoesOn) {
  Graph g;
  const TensorType type{DType::f32, Shape{1, 2}};
  g.inputs = {g.add_value("x", type)};
  g.outputs = {g.add_node("Refuse", "strict", {g.inputs[0]}, {"y"}).outputs[0]};
  g.values[static_cast<std::size_t>(g.outputs[0])].type = type;
  Machine machine;
  NetworkSession session(machine, std::make_shared<const NetworkProgram>(lower(g, task_layers())),
                         task_layers());
  const std::vector<float> bad{-1, 0}, good{1, 0};
  session.set_input(0, Tensor::of<float>(type.shape, bad));
  try {
    session.run();
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("strict"));
  }
  session.set_input(0, Tensor::of<float>(type.shape, good));
  session.run();
  EXPECT_EQ(session.output(0).as<float>()[0], 1);
  try {
    session.set_input(0, Tensor(DType::f32, Shape{3}));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("float32 [1, 2] is needed"));
  }
}

TEST(NetworkSession, TraceHoldsEveryTaskInOrder) {
  const MicroBatches cut = cut_by_hand(3);
  LoweringOptions options;
  options.target_seconds = 1e-9;
  SessionOptions session_options;
  session_options.record_trace = true;
  Machine machine;
  NetworkSession session(machine, std::make_shared<const NetworkProgram>(lower(cut, task_layers(), options)),
                         task_layers(), session_options);
  const RunStatistics statistics = session.run();
  const Trace trace = session.trace();
  ASSERT_EQ(trace.tasks.size(), session.program().tasks.task_count());
  std::vector<double> end(trace.tasks.size());
  for (const TaskEvent& e : trace.tasks) end[e.task] = e.end;
  for (const TaskEvent& e : trace.tasks) {
    EXPECT_LE(e.ready, e.start);
    EXPECT_LE(e.end, statistics.makespan);
    for (const TaskId p : session.program().tasks.predecessors(e.task)) EXPECT_LE(end[p], e.start);
  }
  EXPECT_GT(statistics.busy(), 0);
  EXPECT_LT(statistics.lost(), 1);
}

TEST(NetworkSession, StopFlagPassesTasksOver) {
  std::atomic<bool> stop{true};
  SessionOptions options;
  options.stop = &stop;
  Machine machine;
  NetworkSession session(
      machine, std::make_shared<const NetworkProgram>(lower(random_task_graph(1, 5, 1), task_layers())),
      task_layers(), options);
  EXPECT_TRUE(session.run().interrupted);
}

TEST(NetworkSession, ABatchTooLargeForTheMemoryIsRefused) {
  Graph g;
  const TensorType type{DType::f32, Shape{std::int64_t{1} << 42}};
  g.inputs = {g.add_value("x", type)};
  g.outputs = {g.add_node("Affine", "a", {g.inputs[0]}, {"y"}).outputs[0]};
  g.values[static_cast<std::size_t>(g.outputs[0])].type = type;
  Machine machine;
  try {
    NetworkSession session(machine, std::make_shared<const NetworkProgram>(lower(g, task_layers())),
                           task_layers());
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("of memory"));
  }
}

TEST(Machine, NamesThePoliciesWhenOneIsUnknown) {
  try {
    Machine machine({"fastest", 0});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("dmda"));
  }
  EXPECT_THROW(Machine({"eager", 100000}), InputError);
}

}  // namespace
}  // namespace espalier::starpu
