#include "runtime/model/simulate.hpp"

#include <deque>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <random>

#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;

/// First come, first served.
class Fifo final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView&) override { problem_ = &problem; }
  void ready(TaskId task) override { queue_.push_back(task); }
  TaskId pick(WorkerId worker) override {
    for (auto it = queue_.begin(); it != queue_.end(); ++it)
      if (problem_->costs.can_run(problem_->graph.task(*it).cost_class,
                                  problem_->platform.workers[worker].kind)) {
        const TaskId t = *it;
        queue_.erase(it);
        return t;
      }
    return kNoTask;
  }
  void done(TaskId, WorkerId) override {}

 private:
  const SchedulingProblem* problem_ = nullptr;
  std::deque<TaskId> queue_;
};

CostTable costs_of(const LoadedTaskGraph& loaded, const Platform& platform) {
  const CostModel* models[] = {loaded.given.get()};
  return make_cost_table(loaded.graph, platform, models);
}

Plan plan_of(std::vector<WorkerId> workers) {
  Plan plan;
  std::vector<std::uint32_t> next(64, 0);
  for (TaskId t = 0; t < workers.size(); ++t) {
    plan.placements.push_back({workers[t], next[workers[t]]++, static_cast<double>(t), 0});
  }
  return plan;
}

/// One CPU beside memory 0 and `gpus` GPUs with a memory of their own behind one link a direction.
Platform node(int gpus, double bandwidth, double latency, std::int64_t gpu_bytes) {
  Platform p;
  p.name = "node";
  p.kinds.resize(2);
  p.kinds[0].name = "cpu";
  p.kinds[1].name = "gpu";
  p.kinds[1].type = DeviceType::cuda;
  p.memories.push_back({.name = "main"});
  p.workers.push_back({"cpu0", 0, 0});
  p.links.push_back({"up", bandwidth, Seconds(latency), true});
  p.links.push_back({"down", bandwidth, Seconds(latency), true});
  for (int g = 1; g <= gpus; ++g) p.memories.push_back({"gpu" + std::to_string(g), Bytes(gpu_bytes)});
  for (int g = 1; g <= gpus; ++g) {
    const auto m = static_cast<MemoryId>(g);
    p.workers.push_back({"gpu" + std::to_string(g), 1, m});
    p.links.push_back({"to" + std::to_string(g), bandwidth, Seconds(0), true});
    p.links.push_back({"from" + std::to_string(g), bandwidth, Seconds(0), true});
    p.set_route(0, m, {1, static_cast<LinkId>(2 * g)});
    p.set_route(m, 0, {0, static_cast<LinkId>(2 * g + 1)});
  }
  for (MemoryId a = 1; a <= gpus; ++a)
    for (MemoryId b = 1; b <= gpus; ++b)
      if (a != b) p.set_route(a, b, {static_cast<LinkId>(2 * a + 1), static_cast<LinkId>(2 * b)});
  return p;
}

TEST(Simulate, ChainOnTwoProcessorsPaysTheEdge) {
  // a 2, edge 3, b 4: apart 2 + 3 + 4 = 9, together 2 + 4 = 6
  const auto g = read_dot("digraph { a [Weight=2]; b [Weight=4]; a -> b [Weight=3]; }", "chain");
  const Platform p = identical_platform(2);
  const CostTable costs = costs_of(g, p);
  const SchedulingProblem problem{g.graph, p, costs};
  EXPECT_EQ(simulate(problem, plan_of({0, 1})).makespan, 9);
  EXPECT_EQ(simulate(problem, plan_of({1, 1})).makespan, 6);
}

TEST(Simulate, TransfersOfIdenticalProcessorsRunInParallel) {
  // a 1 on p0; three edges of 10 to b, c, d on p1, p2, p3: all there at 11, all done at 12
  const auto g = read_dot(
      "digraph { node [Weight=1]; a; b; c; d; a -> b [Weight=10]; a -> c [Weight=10]; a -> d [Weight=10]; }",
      "star");
  const Platform p = identical_platform(4);
  const CostTable costs = costs_of(g, p);
  const Trace t = simulate({g.graph, p, costs}, plan_of({0, 1, 2, 3}));
  EXPECT_EQ(t.makespan, 12);
  ASSERT_EQ(t.transfers.size(), 3U);
  for (const TransferEvent& e : t.transfers) {
    EXPECT_EQ(e.start, 1);
    EXPECT_EQ(e.end, 11);
  }
  EXPECT_EQ(t.tasks[1].ready, 1);
  EXPECT_EQ(t.tasks[1].data_ready, 11);
}

TEST(Simulate, TransferOverlapsTheTaskBefore) {
  // p0: a 2; p1: c 5; b 1 on p1 reads a (edge 3): the edge is paid during c, so b runs from 5 to 6
  const auto g =
      read_dot("digraph { a [Weight=2]; c [Weight=5]; b [Weight=1]; a -> b [Weight=3]; }", "overlap");
  const Platform p = identical_platform(2);
  const CostTable costs = costs_of(g, p);
  EXPECT_EQ(simulate({g.graph, p, costs}, plan_of({0, 1, 1})).makespan, 6);
  // without prefetch the edge is paid when p1 turns to b: 5 + 3 + 1
  SimulationOptions lazy;
  lazy.prefetch = false;
  EXPECT_EQ(simulate({g.graph, p, costs}, plan_of({0, 1, 1}), lazy).makespan, 9);
}

/// n tasks on GPUs that each read a datum of their own from main memory.
TaskGraph readers(int n, std::int64_t bytes) {
  TaskGraphBuilder b;
  const CostClass c = b.add_class({"read", "", Flops(0), Bytes(0), 0});
  for (int i = 0; i < n; ++i) {
    const std::vector<Access> access{{b.add_data({Bytes(bytes)}), AccessMode::read}};
    b.add_task({.cost_class = c}, access);
  }
  return b.build();
}

CostTable gpu_only(const TaskGraph& g, double seconds) {
  CostTable t(g.classes.size(), 2);
  for (CostClass c = 0; c < g.classes.size(); ++c) t.set(c, 1, Seconds(seconds), CostSource::given);
  return t;
}

TEST(Simulate, SharedLinkIsSplitFairly) {
  // 2 transfers of 100 B over a common link of 10 B/s, each at 5 B/s: latency 1 + 20, then the task of 2: 23.
  // Without contention 1 + 10 + 2 = 13.
  const TaskGraph g = readers(2, 100);
  const Platform p = node(2, 10, 1, 1000);
  const CostTable costs = gpu_only(g, 2);
  EXPECT_DOUBLE_EQ(simulate({g, p, costs}, plan_of({1, 2})).makespan, 23);
  SimulationOptions alone;
  alone.contention = false;
  EXPECT_DOUBLE_EQ(simulate({g, p, costs}, plan_of({1, 2}), alone).makespan, 13);
}

/// GPU 1 and GPU 2 write a datum each and read the other's.
TaskGraph exchange(std::int64_t bytes) {
  TaskGraphBuilder b;
  const CostClass c = b.add_class({"k", "", Flops(0), Bytes(0), 0});
  const DataId x = b.add_data({Bytes(bytes)}), y = b.add_data({Bytes(bytes)});
  for (const Access access : {Access{x, AccessMode::write}, Access{y, AccessMode::write},
                              Access{x, AccessMode::read}, Access{y, AccessMode::read}})
    b.add_task({.cost_class = c}, std::vector<Access>{access});
  return b.build();
}

TEST(Simulate, PeerCopiesAreSerialWhereThePlatformSaysSo) {
  // written at 1, two opposite copies of 10 s: at the same time 1 + 10 + 1, one after the other 1 + 20 + 1
  const TaskGraph g = exchange(100);
  Platform p = node(2, 10, 0, 1000);
  const CostTable costs = gpu_only(g, 1);
  EXPECT_DOUBLE_EQ(simulate({g, p, costs}, plan_of({1, 2, 2, 1})).makespan, 12);
  p.serial_peer_copies = true;
  EXPECT_DOUBLE_EQ(simulate({g, p, costs}, plan_of({1, 2, 2, 1})).makespan, 22);
}

TEST(Simulate, PeerCopiesWaitForWhatComesInFromMainMemoryAndNotForWhatLeaves) {
  // GPU 1 writes x (1 s), which GPU 2 reads; a datum for GPU 1 is on its way from main memory from 0 to 10
  TaskGraphBuilder b;
  const CostClass c = b.add_class({"k", "", Flops(0), Bytes(0), 0});
  const DataId x = b.add_data({Bytes(100)}), y = b.add_data({Bytes(100)});
  b.add_task({.cost_class = c}, std::vector<Access>{{x, AccessMode::write}});
  b.add_task({.cost_class = c}, std::vector<Access>{{x, AccessMode::read}});
  b.add_task({.cost_class = c}, std::vector<Access>{{y, AccessMode::read}});
  const TaskGraph g = b.build();
  Platform p = node(2, 10, 0, 1000);
  const CostTable costs = gpu_only(g, 1);
  EXPECT_DOUBLE_EQ(simulate({g, p, costs}, plan_of({1, 2, 1})).makespan, 12);
  p.serial_peer_copies = true;
  EXPECT_DOUBLE_EQ(simulate({g, p, costs}, plan_of({1, 2, 1})).makespan, 21);
}

TEST(Simulate, TransfersOfOnePairQueue) {
  // both data go to the same GPU one after the other: 1 + 10, 1 + 10 at 22; tasks at 11 .. 13 and 22 .. 24
  const TaskGraph g = readers(2, 100);
  const Platform p = node(1, 10, 1, 1000);
  const CostTable costs = gpu_only(g, 2);
  const Trace t = simulate({g, p, costs}, plan_of({1, 1}));
  EXPECT_DOUBLE_EQ(t.makespan, 24);
  EXPECT_DOUBLE_EQ(t.tasks[0].start, 11);
  EXPECT_DOUBLE_EQ(t.tasks[1].start, 22);
}

TEST(Simulate, FullMemoryEvictsAndStaysBelowItsCapacity) {
  // memory for 2 of 4 data: reading makes clean copies, so nothing is written back
  const TaskGraph g = readers(4, 100);
  const Platform p = node(1, 10, 0, 200);
  const CostTable costs = gpu_only(g, 50);
  const Trace t = simulate({g, p, costs}, plan_of({1, 1, 1, 1}));
  // 10 s for the first datum, then tasks back to back: the next datum arrives while one runs
  EXPECT_DOUBLE_EQ(t.makespan, 10 + 4 * 50);
  EXPECT_LE(t.peak_memory[1], 200);
  for (const TransferEvent& e : t.transfers) EXPECT_FALSE(e.eviction);
}

TEST(Simulate, DirtyDataAreWrittenBack) {
  // the GPU writes a, b (100 B each, memory for 2), then c: one of a, b goes to main memory (10 s) and comes
  // back when the last task reads it
  TaskGraphBuilder builder;
  const CostClass k = builder.add_class({"k", "", Flops(0), Bytes(0), 0});
  std::vector<DataId> d;
  for (int i = 0; i < 3; ++i) d.push_back(builder.add_data({Bytes(100)}));
  for (int i = 0; i < 3; ++i)
    builder.add_task({.cost_class = k}, std::vector<Access>{{d[i], AccessMode::write}});
  for (int i : {1, 0, 2}) builder.add_task({.cost_class = k}, std::vector<Access>{{d[i], AccessMode::read}});
  const TaskGraph g = builder.build();
  const Platform p = node(1, 10, 0, 200);
  const CostTable costs = gpu_only(g, 1);
  const Trace t = simulate({g, p, costs}, plan_of({1, 1, 1, 1, 1, 1}));
  // 0..1 a, 1..2 b. c is staged while b runs and needs room: a, the one that is idle, leaves over 1..11.
  // 11..12 c, 12..13 read b, which frees its room; a comes back over 13..23; 23..24 read a, 24..25 read c.
  // (At 12 the room for a is taken from c, which starts to leave, but b is done first.)
  EXPECT_DOUBLE_EQ(t.makespan, 25);
  ASSERT_EQ(t.transfers.size(), 3U);
  EXPECT_TRUE(t.transfers[0].eviction);
  EXPECT_EQ(t.transfers[0].data, d[0]);
  EXPECT_LE(t.peak_memory[1], 200);
}

TEST(Simulate, TaskLargerThanMemoryIsNamedWithBothSizes) {
  const TaskGraph g = readers(1, 500);
  const Platform p = node(1, 10, 0, 200);
  const CostTable costs = gpu_only(g, 1);
  try {
    simulate({g, p, costs}, plan_of({1}));
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("read 0"));
    EXPECT_THAT(e.what(), HasSubstr("500"));
    EXPECT_THAT(e.what(), HasSubstr("200"));
  }
}

TEST(Simulate, RefusesPlansThatDoNotFit) {
  const auto g = read_dot("digraph { node [Weight=1]; a; b; a -> b; }", "two");
  const Platform p = identical_platform(2);
  const CostTable costs = costs_of(g, p);
  const SchedulingProblem problem{g.graph, p, costs};
  const auto error = [&](const Plan& plan) -> std::string {
    try {
      simulate(problem, plan);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_THAT(error(plan_of({0})), HasSubstr("another graph"));
  EXPECT_THAT(error(plan_of({0, 7})), HasSubstr("worker 7"));
  Plan other = plan_of({0, 0});
  other.platform_fingerprint = 1;
  EXPECT_THAT(error(other), HasSubstr("another platform"));
  Plan swapped = plan_of({0, 0});
  std::swap(swapped.placements[0].position, swapped.placements[1].position);
  EXPECT_THAT(error(swapped), HasSubstr("waits for task a"));
  Plan gap = plan_of({0, 0});
  gap.placements[1].position = 5;
  EXPECT_THAT(error(gap), HasSubstr("position"));
}

/// A random graph of reads and writes over a pool of data.
TaskGraph random_graph(std::uint32_t seed, int tasks, int data) {
  std::mt19937 random(seed);
  TaskGraphBuilder b;
  std::vector<CostClass> classes;
  for (int i = 0; i < 5; ++i)
    classes.push_back(b.add_class({"k" + std::to_string(i), "", Flops(1), Bytes(1), 0}));
  for (int i = 0; i < data; ++i) b.add_data({Bytes(10 + random() % 90), 0, random() % 4 == 0});
  for (int t = 0; t < tasks; ++t) {
    std::vector<Access> accesses;
    std::vector<char> used(data, 0);
    const int n = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < n; ++i) {
      const DataId d = random() % data;
      if (used[d]++ != 0) continue;
      accesses.push_back({d, static_cast<AccessMode>(1 + random() % 3)});
    }
    b.add_task({.cost_class = classes[random() % 5]}, accesses);
  }
  return b.build();
}

void check_trace(const TaskGraph& g, const Platform& p, const CostTable& costs, const Trace& trace) {
  ASSERT_EQ(trace.tasks.size(), g.task_count());
  std::vector<TaskEvent> by_task(g.task_count());
  std::vector<double> busy_until(p.workers.size(), 0), length(g.task_count(), 0);
  std::vector<TaskEvent> by_start = trace.tasks;
  std::sort(by_start.begin(), by_start.end(),
            [](const TaskEvent& a, const TaskEvent& b) { return a.start < b.start; });
  for (const TaskEvent& e : by_start) {
    EXPECT_GE(e.start, busy_until[e.worker] - 1e-9);
    busy_until[e.worker] = e.end;
    EXPECT_GE(e.start, e.data_ready - 1e-9);
    EXPECT_GE(e.data_ready, e.ready - 1e-9);
    EXPECT_NEAR(e.end - e.start, costs.seconds(g.task(e.task).cost_class, p.workers[e.worker].kind), 1e-9);
    by_task[e.task] = e;
  }
  for (TaskId t = 0; t < g.task_count(); ++t)
    for (const TaskId q : g.predecessors(t)) EXPECT_GE(by_task[t].start, by_task[q].end - 1e-9);
  for (MemoryId m = 0; m < p.memories.size(); ++m)
    EXPECT_LE(trace.peak_memory[m], p.memories[m].capacity.value);
  double path = 0;
  for (TaskId t = 0; t < g.task_count(); ++t) {
    const CostClass c = g.task(t).cost_class;
    for (const TaskId q : g.predecessors(t)) length[t] = std::max(length[t], length[q]);
    length[t] += std::min(costs.seconds(c, 0), costs.seconds(c, 1));
    path = std::max(path, length[t]);
  }
  EXPECT_GE(trace.makespan, path - 1e-9);
}

TEST(Simulate, RandomGraphsKeepPrecedenceWorkersAndMemory) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(seed);
    const TaskGraph g = random_graph(seed, 60, 12);
    const Platform p = node(3, 40 + seed % 7, 0.1 * (seed % 3), seed % 2 == 0 ? 300 : 100000);
    CostTable costs(g.classes.size(), 2);
    for (CostClass c = 0; c < g.classes.size(); ++c) {
      costs.set(c, 0, Seconds(4 + c), CostSource::given);
      costs.set(c, 1, Seconds(1 + 0.5 * c), CostSource::given);
    }
    const SchedulingProblem problem{g, p, costs};
    Fifo fifo;
    const Trace online = simulate(problem, fifo);
    check_trace(g, p, costs, online);
    // the same allocation and order as a plan
    Plan plan;
    plan.placements.resize(g.task_count());
    std::vector<TaskEvent> order = online.tasks;
    std::sort(order.begin(), order.end(), [](const TaskEvent& a, const TaskEvent& b) {
      return a.start != b.start ? a.start < b.start : a.task < b.task;
    });
    std::vector<std::uint32_t> next(p.workers.size(), 0);
    for (const TaskEvent& e : order) plan.placements[e.task] = {e.worker, next[e.worker]++, e.start, e.end};
    const Trace planned = simulate(problem, plan);
    check_trace(g, p, costs, planned);
    Fifo again;
    EXPECT_EQ(simulate(problem, again).makespan, online.makespan);
    SimulationOptions quiet;
    quiet.record_trace = false;
    EXPECT_EQ(simulate(problem, plan, quiet).makespan, planned.makespan);
  }
}

TEST(Simulate, NoiseDependsOnTheSeedOnly) {
  const TaskGraph g = readers(20, 10);
  const Platform p = node(2, 10, 0, 1000);
  const CostTable costs = gpu_only(g, 1);
  SimulationOptions noisy;
  noisy.duration_noise = 0.2;
  Fifo a, b, c;
  const double first = simulate({g, p, costs, 7}, a, noisy).makespan;
  EXPECT_EQ(simulate({g, p, costs, 7}, b, noisy).makespan, first);
  EXPECT_NE(simulate({g, p, costs, 8}, c, noisy).makespan, first);
}

}  // namespace
}  // namespace espalier
