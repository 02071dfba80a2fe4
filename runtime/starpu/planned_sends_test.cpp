#include "runtime/starpu/planned_sends.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::starpu {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Sent {
  DataId data;
  MemoryId to;
  bool operator==(const Sent&) const = default;
};

/// A core beside main memory and a GPU, 1000 byte/s, no latency.
Platform core_and_gpu() {
  Platform p;
  p.kinds.resize(2);
  p.kinds[1].type = DeviceType::cuda;
  p.memories.resize(2);
  p.workers = {{"cpu", 0, 0}, {"gpu", 1, 1}};
  p.links = {{"to", 1000, Seconds(0), true}, {"from", 1000, Seconds(0), true}};
  p.set_route(0, 1, {0});
  p.set_route(1, 0, {1});
  return p;
}

class PlannedSendsOf : public ::testing::Test {
 protected:
  /// `n` tasks of 1 s on the GPU, each reads a datum of its own that is in main memory.
  void read_own_data(int n, std::int64_t bytes) {
    TaskGraphBuilder b;
    b.add_class({"k", "", Flops(1), Bytes(1), 0});
    for (int t = 0; t < n; ++t) {
      b.add_task({0}, std::vector<Access>{{b.add_data({Bytes(bytes)}), AccessMode::read}});
      placements_.push_back({1, static_cast<std::uint32_t>(t), double(t), double(t + 1)});
    }
    graph_ = b.build();
  }
  PlannedSends sends() {
    return {graph_, platform_, placements_, [this](DataId d, MemoryId to, int /*priority*/) {
              sent_.push_back({d, to});
            }};
  }
  Platform platform_ = core_and_gpu();
  TaskGraph graph_;
  std::vector<Placement> placements_;
  std::vector<Sent> sent_;
};

TEST_F(PlannedSendsOf, GoNoFurtherThanFiveTasksWhereTransfersAreShort) {
  read_own_data(8, 1);  // 8 x 1 ms: less than a task
  PlannedSends s = sends();
  s.begin();
  EXPECT_THAT(sent_, ElementsAre(Sent{0, 1}, Sent{1, 1}, Sent{2, 1}, Sent{3, 1}, Sent{4, 1}));
  sent_.clear();
  s.finished(0);
  EXPECT_THAT(sent_, ElementsAre(Sent{5, 1}));
}

TEST_F(PlannedSendsOf, GoFurtherWhereTransfersAreLong) {
  read_own_data(10, 1000);  // 8 x 1 s: tasks that start up to 8 s after the first
  PlannedSends s = sends();
  s.begin();
  EXPECT_EQ(sent_.size(), 9U);
}

TEST_F(PlannedSendsOf, WaitForTheContentThatIsRead) {
  // the core reads x at home, the GPU writes x, the core reads that
  TaskGraphBuilder b;
  b.add_class({"k", "", Flops(1), Bytes(1), 0});
  const DataId x = b.add_data({Bytes(1)});
  for (const AccessMode mode : {AccessMode::read, AccessMode::write, AccessMode::read})
    b.add_task({0}, std::vector<Access>{{x, mode}});
  graph_ = b.build();
  placements_ = {{0, 0, 0, 1}, {1, 0, 1, 2}, {0, 1, 2, 3}};
  PlannedSends s = sends();
  s.begin();
  s.finished(0);
  EXPECT_THAT(sent_, IsEmpty());
  s.finished(1);
  EXPECT_THAT(sent_, ElementsAre(Sent{x, 0}));
  s.finished(2);
  EXPECT_EQ(sent_.size(), 1U);
}

}  // namespace
}  // namespace espalier::starpu
