#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/task_graph/sources/source.hpp"
#include "tests/support/shared_data.hpp"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

double time_of(const LoadedTaskGraph& g, TaskId t, DeviceType type) {
  DeviceKind kind;
  kind.type = type;
  const auto e = g.given->estimate(g.graph.class_of(t), kind);
  return e ? e->time.value : -1;
}

constexpr const char* kProfile =
    "node1 -- Input0 -- forward_compute_time=0.000, backward_compute_time=0.000, activation_size=0.0, "
    "parameter_size=0.000\n"
    "node2 -- Conv2d(3, 64, kernel_size=(7, 7)) -- forward_compute_time=2.000, backward_compute_time=4.000, "
    "activation_size=100.0, parameter_size=40.000\n"
    "node3 -- LSTM(8, 8) -- forward_compute_time=1.000, backward_compute_time=3.000, activation_size=[10.0; "
    "5.0], "
    "parameter_size=8.000\n"
    "\tnode1 -- node2\n\tnode2 -- node3\n";

TEST(PipeDream, MakesForwardAndBackwardTasks) {
  const auto g = read_pipedream(kProfile, "p.txt");
  ASSERT_EQ(g.graph.task_count(), 6U);
  EXPECT_EQ(g.graph.task_name(1), "node2_forward");
  EXPECT_EQ(g.graph.class_of(1).codelet, "Conv2d_forward");
  EXPECT_EQ(g.graph.task_name(3), "node3_backward");
  EXPECT_DOUBLE_EQ(time_of(g, 1, DeviceType::cuda), 2e-3);
  EXPECT_DOUBLE_EQ(time_of(g, 4, DeviceType::cuda), 4e-3);
  EXPECT_EQ(time_of(g, 1, DeviceType::cpu), -1);
  EXPECT_DOUBLE_EQ(time_of(g, 1, DeviceType::other), 2e-3);
  // node3's backward reads its input, so it follows node2's forward, and its own forward's order is kept by
  // node2's activations
  EXPECT_THAT(g.graph.predecessors(2), ElementsAre(1));
  EXPECT_THAT(g.graph.predecessors(4), testing::Contains(3));
}

TEST(PipeDream, TimesAreMeasuredElsewhereAndWaitingForDataIsNoWork) {
  std::string text = kProfile;
  text.replace(text.find("=0.000"), 6, "=9.000");  // node1, Input0
  const auto g = read_pipedream(text, "p.txt");
  EXPECT_EQ(time_of(g, 0, DeviceType::cuda), 0);
  DeviceKind kind;
  kind.type = DeviceType::cuda;
  const auto e = g.given->estimate(g.graph.class_of(1), kind);
  ASSERT_TRUE(e);
  EXPECT_EQ(e->basis.source, CostSource::measured_elsewhere);
  EXPECT_EQ(e->basis.text, "PipeDream's profile");
}

TEST(PipeDream, MicroBatchesShareParametersAndAddGradients) {
  TaskGraphOptions options;
  options.micro_batches = 3;
  const auto g = read_pipedream(kProfile, "p.txt", options);
  EXPECT_EQ(g.graph.task_count(), 18U);
  EXPECT_EQ(g.graph.classes.size(), 6U);
  options.training = false;
  EXPECT_EQ(read_pipedream(kProfile, "p.txt", options).graph.task_count(), 9U);
}

TEST(PipeDream, NamesTheLineOfAnError) {
  const auto error = [](const std::string& text) { return error_of([&] { read_pipedream(text, "p.txt"); }); };
  const std::string layer =
      " -- X -- forward_compute_time=1.0, backward_compute_time=1.0, activation_size=1.0, "
      "parameter_size=1.0\n";
  EXPECT_THAT(error(""), HasSubstr("no layer"));
  EXPECT_THAT(error("a" + layer + "\ta -- b\n"), HasSubstr("p.txt:2"));
  EXPECT_THAT(error("a" + layer + "a" + layer), HasSubstr("twice"));
  EXPECT_THAT(error("a -- X -- forward_compute_time=1.0\n"),
              HasSubstr("backward_compute_time=... is missing"));
  EXPECT_THAT(error("hello\n"), HasSubstr("p.txt:1"));
  EXPECT_THAT(error("a" + layer + "b" + layer + "\ta -- b\n\tb -- a\n"), HasSubstr("a -> b -> a"));
}

TEST(DnnPartitioning, ReadsLatenciesAndSizes) {
  const char* text =
      R"({"maxFPGAs": 2, "nodes": [{"id": 1, "name": "x", "supportedOnFpga": 1, "cpuLatency": 10, "fpgaLatency": 1, "size": 7},
          {"id": 2, "supportedOnFpga": 0, "cpuLatency": 20, "fpgaLatency": 2, "size": 0}],
          "edges": [{"sourceId": 1, "destId": 2, "cost": 0.5, "size": 64}]})";
  const auto g = read_dnn_partitioning(text, "d.json");
  ASSERT_EQ(g.graph.task_count(), 2U);
  EXPECT_DOUBLE_EQ(time_of(g, 0, DeviceType::cpu), 0.010);
  EXPECT_DOUBLE_EQ(time_of(g, 0, DeviceType::cuda), 0.001);
  EXPECT_EQ(time_of(g, 1, DeviceType::cuda), -1);
  EXPECT_EQ(g.graph.data_count(), 2U);
  EXPECT_THAT(error_of([] { read_dnn_partitioning("{", "d.json"); }), HasSubstr("d.json:1"));
  EXPECT_THAT(error_of([] { read_dnn_partitioning(R"({"nodes": [{"id": 1}], "edges": []})", "d.json"); }),
              HasSubstr("cpuLatency"));
  EXPECT_THAT(error_of([] {
                read_dnn_partitioning(
                    R"({"nodes": [{"id": 1, "cpuLatency": 1}], "edges": [{"sourceId": 1, "destId": 3}]})",
                    "d.json");
              }),
              HasSubstr("node 3"));
}

constexpr const char* kWorkflow15 =
    R"({"name": "w", "schemaVersion": "1.5", "workflow": {"specification": {
      "tasks": [{"name": "merge", "id": "m", "parents": ["a", "b"], "children": [], "inputFiles": ["fa", "fb"], "outputFiles": []},
                {"name": "step", "id": "a", "parents": [], "children": ["m"], "inputFiles": ["in"], "outputFiles": ["fa"]},
                {"name": "step", "id": "b", "parents": [], "children": ["m"], "inputFiles": ["in"], "outputFiles": ["fb"]}],
      "files": [{"id": "in", "sizeInBytes": 10}, {"id": "fa", "sizeInBytes": 20}, {"id": "fb", "sizeInBytes": 0}]},
      "execution": {"makespanInSeconds": 5, "executedAt": "x", "tasks": [{"id": "m", "runtimeInSeconds": 2},
        {"id": "a", "runtimeInSeconds": 1.5}, {"id": "b", "runtimeInSeconds": 1.5}]}}})";

TEST(WfCommons, ReadsSchema15) {
  const auto g = read_wfcommons(kWorkflow15, "w.json");
  ASSERT_EQ(g.graph.task_count(), 3U);
  EXPECT_EQ(g.graph.task_name(2), "m");
  EXPECT_THAT(g.graph.predecessors(2), ElementsAre(0, 1));
  EXPECT_DOUBLE_EQ(time_of(g, 2, DeviceType::cpu), 2);
  EXPECT_EQ(g.graph.classes.size(), 2U);
  EXPECT_EQ(g.graph.data_count(), 2U);
}

TEST(WfCommons, ReadsSchema14AndNamesErrors) {
  const std::string head =
      R"({"name": "w", "schemaVersion": "1.4", "workflow": {"makespanInSeconds": 3, "tasks": [)";
  const auto g = read_wfcommons(
      head +
          R"({"name": "one", "id": "1", "category": "c", "runtimeInSeconds": 1, "parents": [], "children": ["2"],
              "files": [{"link": "output", "name": "f", "sizeInBytes": 8}]},
             {"name": "two", "id": "2", "runtimeInSeconds": 2, "parents": ["one"],
              "files": [{"link": "input", "name": "f", "sizeInBytes": 8}]}]}})",
      "w.json");
  EXPECT_THAT(g.graph.predecessors(1), ElementsAre(0));
  EXPECT_EQ(g.graph.data_count(), 1U);
  const auto error = [&](const std::string& tasks) {
    return error_of([&] { read_wfcommons(head + tasks + "]}}", "w.json"); });
  };
  EXPECT_THAT(error(R"({"id": "1"})"), HasSubstr("no runtimeInSeconds"));
  EXPECT_THAT(error(R"({"id": "1", "runtimeInSeconds": 1, "parents": ["9"]})"), HasSubstr("task 9"));
  EXPECT_THAT(error(R"({"id": "1", "runtimeInSeconds": 1, "parents": ["1"]})"), HasSubstr("cycle: 1 -> 1"));
  EXPECT_THAT(error(""), HasSubstr("no task"));
  EXPECT_THAT(error_of([] { read_wfcommons("{\n\n x", "w.json"); }), HasSubstr("w.json:3"));
}

TEST(JsonSources, ANumberThatNoDoubleHoldsIsWrongInput) {
  EXPECT_THAT(error_of([] { read_dnn_partitioning(R"({"nodes": 1e1155})", "d.json"); }),
              HasSubstr("d.json: not valid JSON"));
  EXPECT_THAT(error_of([] { read_wfcommons(R"({"name": 27E3273})", "w.json"); }),
              HasSubstr("w.json: not valid JSON"));
}

TEST(Generators, DenseOnesHaveTheRightTasks) {
  // Cholesky of N tiles: N potrf, N(N-1)/2 trsm and syrk, N(N-1)(N-2)/6 gemm
  const auto c = generate("cholesky:20");
  EXPECT_EQ(c.graph.task_count(), 20U + 190U + 190U + 1140U);
  EXPECT_EQ(c.graph.classes.size(), 4U);
  EXPECT_EQ(c.graph.class_of(0).codelet, "chol_model_potrf");
  EXPECT_EQ(c.graph.data(0).size.value, 960 * 960 * 4);
  EXPECT_EQ(c.graph.data_count(), 210U);
  double flops = 0;
  for (TaskId t = 0; t < c.graph.task_count(); ++t) flops += c.graph.class_of(t).flops.value;
  EXPECT_NEAR(flops / (19200.0 * 19200 * 19200 / 3), 1, 0.01);
  EXPECT_EQ(generate("lu:3").graph.task_count(), 3U + 3U + 3U + 5U);
  EXPECT_EQ(generate("qr:3").graph.task_count(), 3U + 3U + 3U + 5U);
}

TEST(Generators, SyntheticOnesFollowTheirSeed) {
  for (const char* text : {"layered:6,width=5,degree=3,ccr=1", "fork-join:4,stages=2", "stencil:5,steps=4",
                           "random:80,degree=3,ccr=0.5"}) {
    SCOPED_TRACE(text);
    const auto a = generate(text), b = generate(text), c = generate(std::string(text) + ",seed=1");
    EXPECT_EQ(a.graph.fingerprint(), b.graph.fingerprint());
    EXPECT_NE(a.graph.fingerprint(), c.graph.fingerprint());
    EXPECT_EQ(a.graph.name, text);
    EXPECT_TRUE(a.graph.unit_less);
  }
  EXPECT_EQ(generate("fork-join:4,stages=2").graph.task_count(), 11U);
  EXPECT_EQ(generate("stencil:5,steps=4").graph.edge_count(), 3U * 13U);
}

TEST(Generators, RefuseBadOptions) {
  const auto error = [](const char* text) { return error_of([&] { generate(text); }); };
  EXPECT_THAT(error("cholesky:0"), HasSubstr("1 .."));
  EXPECT_THAT(error("cholesky:3,colour=red"), HasSubstr("tiles, nb"));
  EXPECT_THAT(error("cholesky:3,nb=1,nb=2"), HasSubstr("twice"));
  EXPECT_THAT(error("random:99999999999999"), HasSubstr("random"));
  EXPECT_THAT(error("layered:10000000,width=10000000"), HasSubstr("more than"));
  EXPECT_THAT(error("layered:3,min=5,max=2"), HasSubstr("less than min"));
  EXPECT_THAT(error("nothing:3"), HasSubstr("cholesky"));
  EXPECT_THAT(error_of([] { load_task_graph("a.xyz"); }), HasSubstr(".stg"));
  EXPECT_THAT(error_of([] { load_task_graph("missing.stg"); }), HasSubstr("missing.stg"));
}

TEST(Sources, PublicProfilesOnOneGpu) {
  ESPALIER_SHARED_OR_SKIP(data, "data/pipedream");
  const auto whole = [&](const char* name) {
    const auto g = load_task_graph((data / name).string());
    double seconds = 0;
    for (TaskId t = 0; t < g.graph.task_count(); ++t) seconds += time_of(g, t, DeviceType::cuda);
    return seconds;
  };
  // PipeDream's planner: the whole of vgg16 on one GPU; the sum of resnet50's four stages
  EXPECT_NEAR(whole("vgg16.txt"), 0.672535, 1e-6);
  EXPECT_NEAR(whole("resnet50.txt"), 0.111259 + 0.110674 + 0.111497 + 0.109989, 2e-6);
}

TEST(Sources, ReadThePublicFiles) {
  ESPALIER_SHARED_OR_SKIP(data, "data");
  // layers and edges counted with grep; a task for each direction
  EXPECT_EQ(load_task_graph((data / "pipedream/vgg16.txt").string()).graph.task_count(), 2U * 41U);
  EXPECT_EQ(load_task_graph((data / "pipedream/gnmt.txt").string()).graph.task_count(), 2U * 48U);
  EXPECT_EQ(load_task_graph((data / "dnn-partitioning/bert24_inference.json").string()).graph.task_count(),
            32U);
  EXPECT_EQ(load_task_graph((data / "dag-optimal/Nodes_9_SeriesParallel.dot").string()).graph.task_count(),
            9U);
}

}  // namespace
}  // namespace espalier
