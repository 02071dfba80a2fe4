#include "experiments/compare/idle_time.hpp"

#include <gtest/gtest.h>

#include "experiments/simulate/simulation.hpp"
#include "schedulers/scheduler_list.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

double lost(const WorkerTime& time, LostCause cause) {
  return time.lost[static_cast<std::size_t>(cause)];
}

/// Three tasks of one second each and two workers; the traces are made up.
test::ProblemCase three_tasks() {
  return test::identical_case({1, 1, 1}, {}, 2);
}

TEST(IdleTime, CutsTheGapAtReadyRoomAndData) {
  const auto c = three_tasks();
  Trace trace;
  trace.engine = "starpu";
  trace.makespan = 10;
  // worker 0: task 0 in [0, 1]; task 1 ready at 2, room at 4, data at 7, starts at 7.5, ends at 10
  // worker 1: task 2 ready at 0, starts at 3, ends at 10
  trace.tasks = {{0, 0, 0, 1, 0, 0, 0}, {1, 0, 7.5, 10, 2, 7, 4}, {2, 1, 3, 10, 0, 0, 0}};
  const IdleTime idle = idle_time(c.problem(), trace);
  // the gap [1, 7.5]: [1, 2] its predecessor runs while task 2 is ready; [2, 4] room; [4, 7] data; [7, 7.5]
  // late
  const WorkerTime& w = idle.by_worker[0];
  EXPECT_DOUBLE_EQ(w.busy, 1 + 2.5);
  EXPECT_DOUBLE_EQ(lost(w, LostCause::predecessor), 1);
  EXPECT_DOUBLE_EQ(lost(w, LostCause::memory), 2);
  EXPECT_DOUBLE_EQ(lost(w, LostCause::data), 3);
  EXPECT_DOUBLE_EQ(lost(w, LostCause::overhead), 0.5);
  EXPECT_DOUBLE_EQ(lost(w, LostCause::nothing_ready), 0);
  EXPECT_DOUBLE_EQ(w.total(), 10);
  EXPECT_EQ(w.largest(), LostCause::data);
  // worker 1: everything was there at 0, so the 3 s before its start are the runtime's
  EXPECT_DOUBLE_EQ(lost(idle.by_worker[1], LostCause::overhead), 3);
}

TEST(IdleTime, NothingReadyIsToldFromAPredecessorAndFromNoWork) {
  const auto c = three_tasks();
  Trace trace;
  trace.engine = "starpu";
  trace.makespan = 10;
  // task 0 runs in [0, 4] on worker 0; task 1 gets ready at 4 and starts at once on worker 1, ends at 6;
  // task 2 gets ready at 6, starts at 8 on worker 0, ends at 10
  trace.tasks = {{0, 0, 0, 4, 0, 0, 0}, {1, 1, 4, 6, 4, 4, 4}, {2, 0, 8, 10, 6, 8, 6}};
  const IdleTime idle = idle_time(c.problem(), trace);
  // worker 1: [0, 4] nothing ready; behind its task: [6, 8] task 2 is ready but not given to it, [8, 10]
  // nothing
  EXPECT_DOUBLE_EQ(lost(idle.by_worker[1], LostCause::nothing_ready), 4 + 2);
  EXPECT_DOUBLE_EQ(lost(idle.by_worker[1], LostCause::no_work), 2);
  // worker 0: [4, 6] nothing ready, [6, 8] data
  EXPECT_DOUBLE_EQ(lost(idle.by_worker[0], LostCause::nothing_ready), 2);
  EXPECT_DOUBLE_EQ(lost(idle.by_worker[0], LostCause::data), 2);
  EXPECT_DOUBLE_EQ(idle.before[2][static_cast<std::size_t>(LostCause::data)], 2);
}

TEST(IdleTime, TheModelEnginesTaskTimesContainTheOverhead) {
  auto c = three_tasks();
  for (DeviceKind& k : c.platform.kinds) k.task_overhead = Seconds(0.25);
  Trace trace;
  trace.engine = "model";
  trace.makespan = 2.5;
  trace.tasks = {{0, 0, 0, 1.25, 0, 0, 0}, {1, 0, 1.25, 2.5, 0, 0, 0}};
  // two tasks of 1.25 s, 0.25 s each of them the runtime's
  const IdleTime idle = idle_time(c.problem(), trace);
  EXPECT_DOUBLE_EQ(idle.by_worker[0].busy, 2);
  EXPECT_DOUBLE_EQ(lost(idle.by_worker[0], LostCause::overhead), 0.5);
}

TEST(IdleTime, AddsUpToTheMakespanOnRandomGraphs) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const auto c = test::random_case(40, 4, 0.12, 5, seed);
    for (const char* scheduler : {"heft_topcuoglu2002", "minmin", "maxmin"}) {
      const SimulationResult result = simulate_scheduler(c.problem(), scheduler);
      const IdleTime idle = idle_time(c.problem(), result.trace);
      for (const WorkerTime& w : idle.by_worker) {
        EXPECT_NEAR(w.total(), result.trace.makespan, 1e-9 * result.trace.makespan);
        for (const double seconds : w.lost) EXPECT_GE(seconds, 0);
      }
    }
  }
}

}  // namespace
}  // namespace espalier
