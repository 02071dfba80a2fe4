#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/platform/platform_source.hpp"
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

double time_of(const LoadedTaskGraph& loaded, TaskId t) {
  DeviceKind cpu;
  cpu.name = "cpu-core";
  return loaded.given->estimate(loaded.graph.class_of(t), cpu)->time.value;
}

TEST(Stg, ReadsTasksTimesAndPredecessors) {
  const auto g = read_stg("2\n 0 0 0\n 1 5 1 0\n 2 7.5 1 0\n 3 0 2 1 2\n# INFO\n", "a.stg");
  EXPECT_EQ(g.graph.task_count(), 4U);
  EXPECT_TRUE(g.graph.unit_less);
  EXPECT_THAT(g.graph.predecessors(3), ElementsAre(1, 2));
  EXPECT_EQ(time_of(g, 0), 0);
  EXPECT_EQ(time_of(g, 2), 7.5);
}

TEST(Stg, ReadsCommunicationTimes) {
  const auto g = read_stg("3\n0 1 0\n1 5 1 0 4\n2 2 2 0 3 1 0\n", "c.stg");
  EXPECT_EQ(g.graph.data_count(), 2U);
  EXPECT_EQ(g.graph.data(0).size.value, static_cast<std::int64_t>(4 * kBytesPerUnit));
  EXPECT_THAT(g.graph.predecessors(2), ElementsAre(0, 1));
}

TEST(Stg, NamesTheLineOfAnError) {
  EXPECT_THAT(error_of([] { read_stg("", "e.stg"); }), HasSubstr("empty"));
  EXPECT_THAT(error_of([] { read_stg("x\n", "e.stg"); }), HasSubstr("e.stg:1"));
  EXPECT_THAT(error_of([] { read_stg("1\n0 1 0\n1 2 1\n", "e.stg"); }), HasSubstr("e.stg:3"));
  EXPECT_THAT(error_of([] { read_stg("2\n0 1 0\n1 2 1 9\n", "e.stg"); }), HasSubstr("predecessor 9"));
  EXPECT_THAT(error_of([] { read_stg("5\n0 1 0\n1 2 1 0\n", "e.stg"); }), HasSubstr("cut off"));
  EXPECT_THAT(error_of([] { read_stg("1\n0 -1 0\n", "e.stg"); }), HasSubstr("e.stg:2"));
  EXPECT_THAT(error_of([] { read_stg("1\n0 1 0\n0 1 0\n", "e.stg"); }), HasSubstr("expected"));
}

TEST(Stg, NamesACycle) {
  const std::string text = error_of([] { read_stg("3\n0 1 1 2\n1 1 1 0\n2 1 1 1\n", "cycle.stg"); });
  EXPECT_THAT(text, HasSubstr("cycle"));
  EXPECT_THAT(text, HasSubstr("0 -> 1 -> 2 -> 0"));
}

TEST(Stg, ReadsThePublicSet) {
  ESPALIER_SHARED_OR_SKIP(path, "data/stg/rand0000.stg");
  const auto g = read_stg(read_file(path), "rand0000.stg");
  EXPECT_EQ(g.graph.task_count(), 52U);
  EXPECT_EQ(g.graph.data_count(), 0U);
}

TEST(Dot, ReadsNodesEdgesAndWeights) {
  const auto g = read_dot(
      "/* c */ strict digraph \"n\" { # c\n node [Weight=2]; a; b [weight=\"3\", color=red]\n"
      "a -> b -> c [Weight=1.5]; rankdir = LR; subgraph cluster_1 { d [Weight=4]; } c->d }\n",
      "x.dot");
  ASSERT_EQ(g.graph.task_count(), 4U);
  EXPECT_EQ(g.graph.task_name(1), "b");
  EXPECT_EQ(time_of(g, 0), 2);
  EXPECT_EQ(time_of(g, 1), 3);
  EXPECT_EQ(time_of(g, 3), 4);
  EXPECT_EQ(g.graph.data_count(), 2U);
  EXPECT_THAT(g.graph.predecessors(3), ElementsAre(2));
}

TEST(Dot, SortsTasksThatAreDeclaredInAnotherOrder) {
  const auto g = read_dot("digraph { b [Weight=1]; a [Weight=2]; a -> b [Weight=3]; }", "o.dot");
  EXPECT_EQ(g.graph.task_name(0), "a");
  EXPECT_THAT(g.graph.predecessors(1), ElementsAre(0));
}

TEST(Dot, NamesTheLineOfAnError) {
  const auto error = [](const char* text) { return error_of([&] { read_dot(text, "e.dot"); }); };
  EXPECT_THAT(error(""), HasSubstr("digraph"));
  EXPECT_THAT(error("graph { a -- b }"), HasSubstr("undirected"));
  EXPECT_THAT(error("digraph { a [Weight=1]; a -- b }"), HasSubstr("-> was expected"));
  EXPECT_THAT(error("digraph {\n a [Weight=1];\n a -> b; }"), HasSubstr("e.dot:3: node \"b\" has no Weight"));
  EXPECT_THAT(error("digraph {\n a [Weight=x]; }"), HasSubstr("e.dot:2"));
  EXPECT_THAT(error("digraph { a [Weight=1] "), HasSubstr("ends where"));
  EXPECT_THAT(error("digraph { \"a "), HasSubstr("never closed"));
  EXPECT_THAT(error("digraph { {a} -> b }"), HasSubstr("subgraph"));
  EXPECT_THAT(error("digraph { }"), HasSubstr("no node"));
  EXPECT_THAT(error("digraph { a [Weight=1]; b [Weight=1]; a -> b -> a; }"), HasSubstr("a -> b -> a"));
  EXPECT_THAT(error("digraph { a [Weight=1]; a -> a; }"), HasSubstr("cycle: a -> a"));
}

}  // namespace
}  // namespace espalier
