#include "schedulers/common/instance.hpp"

#include <gtest/gtest.h>

#include "runtime/model/simulate.hpp"

namespace espalier {
namespace {

/// Two GPUs that reach each other through main memory only: 10 byte/s up, 5 byte/s down, 1 s of latency each.
Platform without_peer_route() {
  Platform p;
  p.name = "pair";
  p.kinds.resize(1);
  p.kinds[0].type = DeviceType::cuda;
  p.memories.resize(3);
  p.workers = {{"gpu 0", 0, 1}, {"gpu 1", 0, 2}};
  p.links = {{"up", 10, Seconds(1), true}, {"down", 5, Seconds(1), true}};
  for (const MemoryId gpu : {1, 2}) {
    p.set_route(gpu, 0, {0});
    p.set_route(0, gpu, {1});
  }
  return p;
}

TaskGraph producer_and_consumer(std::int64_t bytes) {
  TaskGraphBuilder b;
  b.add_class({"k", "", Flops(1), Bytes(1), 0});
  const DataId d = b.add_data({Bytes(bytes)});
  b.add_task({0}, std::vector<Access>{{d, AccessMode::write}});
  b.add_task({0}, std::vector<Access>{{d, AccessMode::read}});
  return b.build();
}

TEST(Instance, WayThroughTheHostIsAsTheModelEngineMovesData) {
  const Platform p = without_peer_route();
  const TaskGraph g = producer_and_consumer(100);
  CostTable costs(1, 1);
  costs.set(0, 0, Seconds(3), CostSource::given);
  const SchedulingProblem problem{g, p, costs};
  const Instance instance(problem);
  EXPECT_DOUBLE_EQ(instance.transfer(100, 1, 2), 2 + 100.0 / 5);
  EXPECT_DOUBLE_EQ(instance.least_remote_transfer(100), 2 + 100.0 / 5);
  Plan plan;
  plan.placements = {{0, 0, 0, 3}, {1, 0, 25, 28}};
  EXPECT_DOUBLE_EQ(simulate(problem, plan).makespan, 3 + instance.transfer(100, 1, 2) + 3);
}

TEST(Instance, WayThroughTheHostIsNoFasterThanItsParts) {
  const Platform p = without_peer_route();
  const TaskGraph g = producer_and_consumer(100);
  CostTable costs(1, 1);
  costs.set(0, 0, Seconds(3), CostSource::given);
  EXPECT_TRUE(Instance({g, p, costs}).direct_is_fastest());
}

}  // namespace
}  // namespace espalier
