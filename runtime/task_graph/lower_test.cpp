#include "runtime/task_graph/lower.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "runtime/task_graph/segment.hpp"
#include "tests/support/task_layers.hpp"

namespace espalier {
namespace {

using test::random_task_graph;
using test::task_layers;

Graph chain(int nodes) {
  Graph g;
  const TensorType type{DType::f32, Shape{1, 6, 8}};
  ValueId v = g.add_value("x", type);
  g.inputs = {v};
  for (int i = 0; i < nodes; ++i) {
    v = g.add_node("Affine", "a" + std::to_string(i), {v}, {"v" + std::to_string(i)}).outputs[0];
    g.values[static_cast<std::size_t>(v)].type = type;
  }
  g.outputs = {v};
  return g;
}

TEST(Lower, FusesAChainUpToTheTarget) {
  LoweringOptions options;
  options.workers = 1;
  for (int i = 0; i < 10; ++i) options.node_seconds["a" + std::to_string(i)] = 1e-3;
  options.target_seconds = 5e-3;  // ten nodes of 1 ms: two tasks
  const NetworkProgram p = lower(chain(10), task_layers(), options);
  EXPECT_EQ(p.tasks.task_count(), 2U);
  EXPECT_EQ(p.variants[0].buffer_bytes.size(), 1U);
  options.target_seconds = 1e-3;
  // a task each; the values alternate between two buffers, the last is the output itself
  const NetworkProgram fine = lower(chain(10), task_layers(), options);
  EXPECT_EQ(fine.tasks.task_count(), 10U);
  EXPECT_EQ(fine.variants[0].buffer_bytes.size(), 2U);
  EXPECT_EQ(fine.variants[0].scratch_bytes, 0);
}

TEST(Lower, KeepsBranchesApartForSeveralWorkers) {
  Graph g = chain(1);
  const TensorType type = g.type(g.outputs[0]);
  std::vector<ValueId> ends;
  for (const std::string branch : {"l", "r"}) {
    ValueId v = g.outputs[0];
    for (int i = 0; i < 3; ++i) {
      v = g.add_node("Affine", branch + std::to_string(i), {v}, {branch + "v" + std::to_string(i)})
              .outputs[0];
      g.values[static_cast<std::size_t>(v)].type = type;
    }
    ends.push_back(v);
  }
  g.outputs = {g.add_node("Add", "join", ends, {"sum"}).outputs[0]};
  g.values[static_cast<std::size_t>(g.outputs[0])].type = type;
  LoweringOptions options;
  options.workers = 2;
  for (const Node& n : g.nodes) options.node_seconds[n.name] = 1e-3;
  options.target_seconds = 10e-3;
  options.bands = false;
  const NetworkProgram p = lower(g, task_layers(), options);
  ASSERT_EQ(p.tasks.task_count(), 4U);  // stem, two branches, join
  EXPECT_THAT(p.tasks.successors(0), ::testing::ElementsAre(1, 2));
  EXPECT_THAT(p.tasks.predecessors(3), ::testing::ElementsAre(1, 2));
}

TEST(Segments, ABandThatTheNeighbourWaitsForEndsItsTask) {
  // node 3 (lane 1) needs a row of node 0 (lane 0): node 2 in the same task as node 0 would hold it up
  const std::vector<std::vector<std::int32_t>> halo{{}, {}, {0}, {0, 1}};
  const std::vector<double> seconds(4, 1e-4);
  const std::vector<std::int32_t> lanes{0, 1, 0, 1};
  EXPECT_THAT(segment_by_chain(halo, seconds, lanes, 1), ::testing::ElementsAre(0, 1, 2, 3));
  const std::vector<std::vector<std::int32_t>> own{{}, {}, {0}, {1}};
  EXPECT_THAT(segment_by_chain(own, seconds, lanes, 1), ::testing::ElementsAre(0, 1, 0, 1));
  // a skip from node 0 to node 4 of the same lane holds nobody up
  const std::vector<std::vector<std::int32_t>> skip{{}, {}, {0}, {1}, {0, 2}};
  const std::vector<std::int32_t> five{0, 1, 0, 1, 0};
  EXPECT_THAT(segment_by_chain(skip, std::vector<double>(5, 1e-4), five, 1),
              ::testing::ElementsAre(0, 1, 0, 1, 0));
}

TEST(Lower, EveryTaskReadsOnlyWhatAnEarlierOneWrote) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    LoweringOptions options;
    options.workers = 1 + seed % 3;
    options.target_seconds = seed % 2 == 0 ? 1e-9 : 5e-6;
    const NetworkProgram p = lower(random_task_graph(seed, 30, 2), task_layers(), options);
    std::vector<char> written(p.tasks.data_count(), 0);
    const Variant& v = p.variants[0];
    for (TaskId t = 0; t < p.tasks.task_count(); ++t) {
      const Segment& s = v.segments[p.bindings[t].segment];
      ASSERT_EQ(p.tasks.accesses(t).size(), s.accesses.size());
      for (std::size_t a = 0; a < s.accesses.size(); ++a) {
        const Access access = p.tasks.accesses(t)[a];
        const bool input = v.pieces[s.accesses[a].piece].space == Space::input;
        if (reads(access.mode)) {
          EXPECT_TRUE(input || written[access.data] != 0) << "seed " << seed;
        }
        if (writes(access.mode)) written[access.data] = 1;
      }
      for (const Call& c : s.calls)
        for (const auto* side : {&c.inputs, &c.outputs})
          for (const Location& l : *side)
            EXPECT_TRUE(l.kind != Location::Kind::access || l.index < s.accesses.size());
    }
  }
}

}  // namespace
}  // namespace espalier
