#include <algorithm>
#include <benchmark/benchmark.h>

#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/online_driver.hpp"
#include "runtime/starpu/plan_driver.hpp"
#include "runtime/starpu/program_tasks.hpp"
#include "schedulers/greedy/greedy.hpp"

/// What StarPU and a policy cost for an empty task with three buffers: submission, dependencies, scheduling
/// and completion, all workers at work. One row each for StarPU's eager, a strict plan, a plan as hints, and
/// the online policy eager of ours; compare us_per_task of one run (the least of its repetitions).
namespace espalier::starpu {
namespace {

constexpr TaskId kTasks = 5000;
constexpr DataId kData = 64;

/// Task t reads two data and updates a third; some hundred tasks can run at any time.
std::vector<Access> accesses_of(TaskId t) {
  return {{(t * 7 + 1) % kData, AccessMode::read},
          {(t * 13 + 3) % kData, AccessMode::read},
          {t % kData, AccessMode::read_write}};
}

struct EmptyBody final : TaskBody {
  EmptyBody(const void* program, TaskId task) : TaskBody(0, program, task) {}
  void run(void**, unsigned) noexcept override {}
};

struct Workload {
  Workload() {
    TaskGraphBuilder builder;
    for (DataId d = 0; d < kData; ++d) builder.add_data({Bytes(64)});
    builder.add_class({"empty", "", Flops(0), Bytes(0)});
    for (TaskId t = 0; t < kTasks; ++t) {
      auto accesses = accesses_of(t);
      std::vector<Access> distinct;  // a datum named twice is one access with both modes
      for (const Access& a : accesses)
        if (std::none_of(distinct.begin(), distinct.end(), [&](const Access& b) { return b.data == a.data; }))
          distinct.push_back(a);
      all.push_back(distinct);
      builder.add_task({}, distinct);
    }
    graph = builder.build();
    for (TaskId t = 0; t < kTasks; ++t) bodies.emplace_back(this, t);
  }
  TaskGraph graph;
  std::vector<std::vector<Access>> all;
  std::vector<EmptyBody> bodies;
};

const char* const kNames[] = {"starpu:eager", "strict plan", "plan as hints", "online eager"};

std::unique_ptr<TaskDriver> driver_for(int kind, const Workload& workload, const SchedulingProblem& problem,
                                       unsigned workers) {
  if (kind == 0) return nullptr;
  if (kind == 3) return make_online_driver(&workload, problem, make_eager(), "eager");
  Plan plan;
  plan.scheduler = "round robin";
  for (TaskId t = 0; t < kTasks; ++t)
    plan.placements.push_back({static_cast<WorkerId>(t % workers), t / workers, 1.0 * t, 1.0 * t + 1});
  return make_plan_driver(&workload, workload.graph, plan, kind == 1 ? PlanMode::strict : PlanMode::both,
                          workers);
}

void empty_task(benchmark::State& state) {
  const auto kind = static_cast<int>(state.range(0));
  Workload workload;
  Machine machine({kind == 0 ? "eager" : std::string(kOwnPolicy), 0});
  Platform platform;
  platform.kinds.resize(1);
  platform.memories.push_back({.name = "main"});
  for (unsigned w = 0; w < machine.workers(); ++w) platform.workers.push_back({"cpu", 0, 0});
  CostTable costs(1, 1);
  costs.set(0, 0, Seconds(1e-6), CostSource::given);
  const SchedulingProblem problem{workload.graph, platform, costs};
  const auto driver = driver_for(kind, workload, problem, machine.workers());
  starpu_codelet* codelet = machine.codelets().get("empty");
  codelet->model = nullptr;  // no history is kept
  std::vector<double> memory(kData * 8);
  std::vector<starpu_data_handle_t> handles(kData);
  for (DataId d = 0; d < kData; ++d)
    starpu_vector_data_register(&handles[d], STARPU_MAIN_RAM,
                                reinterpret_cast<std::uintptr_t>(&memory[8 * d]), 1, 64);
  double least = 1e9;
  {
    const Machine::Work work;
    for (auto _ : state) {
      Machine::Drive drive(driver.get());
      const double start = seconds_now();
      for (TaskId t = 0; t < kTasks; ++t) {
        HandleAccess accesses[3];
        std::size_t n = 0;
        for (const Access& a : workload.all[t]) accesses[n++] = {handles[a.data], a.mode};
        submit_task(codelet, workload.bodies[t], {accesses, n}, 0, "empty");
      }
      starpu_task_wait_for_all();
      least = std::min(least, seconds_now() - start);
    }
  }
  for (const starpu_data_handle_t h : handles) starpu_data_unregister(h);
  state.counters["us_per_task"] = least / kTasks * 1e6;
  state.SetLabel(kNames[kind]);
}
BENCHMARK(empty_task)->DenseRange(0, 3)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(40);

}  // namespace
}  // namespace espalier::starpu
