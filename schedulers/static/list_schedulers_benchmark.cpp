#include <benchmark/benchmark.h>
#include <random>

#include "schedulers/scheduler_list.hpp"

/// List schedulers on layered graphs over 16 devices of two kinds: `tasks/s`, and the growth with the number
/// of tasks (n log n).
namespace espalier {
namespace {

struct Case {
  TaskGraph graph;
  Platform platform;
  CostTable costs;
};

/// 8 CPU cores in one memory and 8 GPUs with their own; each task writes 1 MB and reads three of the layer
/// before.
Case layered(std::size_t tasks) {
  constexpr std::size_t kWidth = 64, kClasses = 12, kGpus = 8;
  std::mt19937 random(1);
  TaskGraphBuilder b;
  for (std::size_t c = 0; c < kClasses; ++c)
    b.add_class({"k" + std::to_string(c), "", Flops(1), Bytes(1), 0});
  std::vector<Access> accesses;
  for (std::size_t t = 0; t < tasks; ++t) {
    accesses.clear();
    for (int read = 0; read < 3 && t >= kWidth; ++read)
      accesses.push_back(
          {static_cast<DataId>((t / kWidth - 1) * kWidth + random() % kWidth), AccessMode::read});
    accesses.push_back({b.add_data({Bytes(1 << 20), 0, false}), AccessMode::write});
    b.add_task({static_cast<CostClass>(random() % kClasses)}, accesses);
  }
  Case result{b.build(), {}, {}};
  Platform& p = result.platform;
  p.name = "8 cores and 8 GPUs";
  p.kinds = {{"cpu-core", DeviceType::cpu, 0, 0, {}}, {"gpu", DeviceType::cuda, 0, 0, {}}};
  p.memories.resize(1 + kGpus);
  p.links.push_back({"bus", 12e9, Seconds(1e-5), true});
  for (MemoryId a = 0; a < p.memories.size(); ++a)
    for (MemoryId c = 0; c < p.memories.size(); ++c)
      if (a != c) p.set_route(a, c, {0});
  for (std::size_t w = 0; w < 8; ++w) p.workers.push_back({"core", 0, 0});
  for (std::size_t w = 0; w < kGpus; ++w) p.workers.push_back({"gpu", 1, static_cast<MemoryId>(1 + w)});
  result.costs = CostTable(result.graph.classes.size(), 2);
  for (CostClass c = 0; c < result.graph.classes.size(); ++c) {
    result.costs.set(c, 0, Seconds(1e-3 * (1 + c)), CostSource::given);
    result.costs.set(c, 1, Seconds(1e-3 * (1 + c) / (1 + 2 * (c % 5))), CostSource::given);
  }
  return result;
}

void schedule(benchmark::State& state, const char* name) {
  const Case c = layered(static_cast<std::size_t>(state.range(0)));
  const SchedulingProblem problem{c.graph, c.platform, c.costs, 0, Seconds(1)};
  const auto scheduler = scheduler_named(name).make_static();
  for (auto _ : state) benchmark::DoNotOptimize(scheduler->schedule(problem).makespan);
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
  state.SetComplexityN(state.range(0));
}

BENCHMARK_CAPTURE(schedule, heft, "heft_topcuoglu2002")
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oNLogN);
BENCHMARK_CAPTURE(schedule, peft, "peft_arabnejad2014")->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, cpop, "cpop_topcuoglu2002")->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, minmin, "minmin")->Arg(100000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(schedule, etf, "etf_hwang1989")->Arg(100000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier
