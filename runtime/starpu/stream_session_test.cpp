#include "runtime/starpu/stream_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/host_memory.hpp"
#include "runtime/task_graph/lower.hpp"
#include "tests/support/task_layers.hpp"

namespace espalier::starpu {
namespace {

using test::task_layers;
using ::testing::HasSubstr;

/// `units` micro-batches of two numbers in flight; the network computes 4 x + 3.
std::shared_ptr<const NetworkProgram> twice_affine(std::uint32_t units) {
  Graph g;
  const TensorType type{DType::f32, Shape{2, 1}};
  ValueId v = g.add_value("x", type);
  g.inputs = {v};
  for (const std::string name : {"a", "b"}) {
    v = g.add_node("Affine", name, {v}, {name + "_out"}).outputs[0];
    g.values[static_cast<std::size_t>(v)].type = type;
  }
  g.outputs = {v};
  MicroBatches cut;
  cut.batch = 2 * units;
  cut.variants.push_back({std::make_shared<const Graph>(std::move(g)), 2});
  cut.units.assign(units, 0);
  cut.input_axes = cut.output_axes = {0};
  LoweringOptions options;
  options.slots = units;
  options.target_seconds = 1e-9;
  return std::make_shared<const NetworkProgram>(lower(cut, task_layers(), options));
}

void fill(std::uint64_t index, std::span<std::byte> input) {
  auto* x = reinterpret_cast<float*>(input.data());
  x[0] = static_cast<float>(2 * index);
  x[1] = x[0] + 1;
}

StreamSession::Consume append_to(std::vector<float>& results) {
  return [&results](std::uint64_t index, std::span<const std::byte> output) {
    EXPECT_EQ(2 * index, results.size());
    const auto* y = reinterpret_cast<const float*>(output.data());
    results.insert(results.end(), y, y + 2);
  };
}

TEST(StreamSession, ConsumesInOrderWithFlatMemory) {
  for (const std::string policy : {"prio", "lws", "eager"}) {
    Machine machine({policy, 0});
    std::vector<float> results;
    results.reserve(6000);
    StreamSession stream(machine, twice_affine(3), task_layers(), {}, fill, append_to(results));
    std::int64_t early = 0;
    for (int i = 0; i < 3000; ++i) {
      stream.push();
      if (i == 1000) early = peak_memory();
    }
    stream.drain();
    ASSERT_EQ(results.size(), 6000U);
    for (std::size_t i = 0; i < results.size(); ++i) ASSERT_EQ(results[i], 4 * static_cast<float>(i) + 3);
    EXPECT_LT(peak_memory() - early, 8 << 20);
    EXPECT_GT(stream.statistics().busy(), 0);
  }
}

TEST(StreamSession, AnErrorOfTheFillerEndsTheStream) {
  Machine machine;
  std::vector<float> results;
  const auto missing = [](std::uint64_t index, std::span<std::byte> /*input*/) {
    if (index == 4) throw InputError("photograph 4 is missing");
  };
  StreamSession stream(machine, twice_affine(2), task_layers(), {}, missing,
                       [](std::uint64_t /*index*/, std::span<const std::byte> /*output*/) {});
  try {
    for (int i = 0; i < 100; ++i) stream.push();
    stream.drain();
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("photograph 4"));
  }
}

TEST(StreamSession, TheStopFlagDropsWhatHasNotStarted) {
  std::atomic<bool> stop{true};
  SessionOptions options;
  options.stop = &stop;
  Machine machine;
  std::vector<float> results;
  StreamSession stream(machine, twice_affine(2), task_layers(), options, fill, append_to(results));
  stream.push();
  stream.drain();
  EXPECT_EQ(stream.consumed(), 0U);
}

}  // namespace
}  // namespace espalier::starpu
