#include <algorithm>
#include <benchmark/benchmark.h>
#include <string>

#include "experiments/calibrate/median.hpp"
#include "runtime/starpu/empty_tasks.hpp"
#include "runtime/starpu/online_driver.hpp"
#include "runtime/starpu/plan_driver.hpp"
#include "schedulers/scheduler_list.hpp"

/// What StarPU and a policy cost for an empty task with three buffers: submission, dependencies, scheduling
/// and completion, all workers at work. One row for StarPU's eager and some of its others, for a strict plan
/// and a plan as hints, and for every online policy of ours; `us_per_task` is the median over the iterations,
/// `least_us` the least. Rows run one after the other: on a machine whose speed drifts, compare several runs
/// (--benchmark_repetitions with --benchmark_enable_random_interleaving=true).
namespace espalier {
namespace {

constexpr TaskId kTasks = 5000;
constexpr DataId kData = 64;

struct Setting {
  explicit Setting(const std::string& policy) : machine({policy, 0}), tasks(machine, kTasks, kData) {
    platform.name = "local";
    platform.kinds.resize(1);
    platform.kinds[0].task_overhead = Seconds(5e-6);
    platform.memories.push_back({.name = "main"});
    for (unsigned w = 0; w < machine.workers(); ++w) platform.workers.push_back({"cpu", 0, 0});
    costs = CostTable(1, 1);
    costs.set(0, 0, Seconds(1e-6), CostSource::given);
  }
  SchedulingProblem problem() const { return {tasks.graph(), platform, costs}; }

  starpu::Machine machine;
  starpu::EmptyTasks tasks;
  Platform platform;
  CostTable costs;
};

void measure(benchmark::State& state, Setting& setting, starpu::TaskDriver* driver) {
  std::vector<double> seconds;
  setting.tasks.run(driver);
  for (auto _ : state) {
    seconds.push_back(setting.tasks.run(driver));
    state.SetIterationTime(seconds.back());
  }
  state.counters["us_per_task"] = median_interval(seconds).median / kTasks * 1e6;
  state.counters["least_us"] = *std::min_element(seconds.begin(), seconds.end()) / kTasks * 1e6;
}

void starpu_policy(benchmark::State& state, const char* policy) {
  Setting setting(policy);
  measure(state, setting, nullptr);
}

void plan_policy(benchmark::State& state, starpu::PlanMode mode) {
  Setting setting{std::string(starpu::kOwnPolicy)};
  const unsigned workers = setting.machine.workers();
  Plan plan;
  plan.scheduler = "round robin";
  for (TaskId t = 0; t < kTasks; ++t)
    plan.placements.push_back({static_cast<WorkerId>(t % workers), t / workers, 1.0 * t, 1.0 * t + 1});
  const auto driver =
      starpu::make_plan_driver(setting.tasks.program(), setting.tasks.graph(), plan, mode, workers);
  measure(state, setting, driver.get());
}

void online_policy(benchmark::State& state, const char* name) {
  Setting setting{std::string(starpu::kOwnPolicy)};
  const auto driver = starpu::make_online_driver(setting.tasks.program(), setting.problem(),
                                                 scheduler_named(name).make_online(), name);
  measure(state, setting, driver.get());
  if (driver->error() != nullptr) state.SkipWithError("the policy failed");
}

void add(const std::string& name, void (*run)(benchmark::State&, const char*), const char* argument) {
  benchmark::RegisterBenchmark(name.c_str(), [run, argument](benchmark::State& s) { run(s, argument); })
      ->Unit(benchmark::kMillisecond)
      ->UseManualTime()
      ->Iterations(40);
}

void add_plan(const std::string& name, starpu::PlanMode mode) {
  benchmark::RegisterBenchmark(name.c_str(), [mode](benchmark::State& s) { plan_policy(s, mode); })
      ->Unit(benchmark::kMillisecond)
      ->UseManualTime()
      ->Iterations(40);
}

const bool registered = [] {
  for (const char* policy : {"eager", "prio", "lws", "dmda", "dmdas"})
    add(std::string("empty_task/starpu:") + policy, starpu_policy, policy);
  add_plan("empty_task/plan:strict", starpu::PlanMode::strict);
  add_plan("empty_task/plan:allocation", starpu::PlanMode::allocation);
  add_plan("empty_task/plan:order", starpu::PlanMode::order);
  add_plan("empty_task/plan:both", starpu::PlanMode::both);
  for (const SchedulerEntry& entry : all_schedulers())
    if (entry.make_online != nullptr)
      add("empty_task/" + std::string(entry.name), online_policy, entry.name.data());
  return true;
}();

}  // namespace
}  // namespace espalier
