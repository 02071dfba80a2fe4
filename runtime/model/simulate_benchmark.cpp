#include <benchmark/benchmark.h>
#include <deque>
#include <fstream>
#include <malloc.h>
#include <random>
#include <string>

#include "runtime/model/simulate.hpp"

/// Tasks a second of the model engine on one core, and bytes a task: `tasks/s`, `graph B/task` (the task
/// graph itself) and `engine B/task` (what simulating adds at its peak), from the resident memory of the
/// process.
namespace espalier {
namespace {

/// "VmRSS" or "VmHWM" of this process in bytes; 0 where the system does not say.
double resident(const std::string& what) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(what)) return 1024 * std::stod(line.substr(line.find(':') + 1));
  return 0;
}

/// By how much the resident memory grows at most while `f` runs.
template <class F>
double peak_growth(F&& f) {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // forgets the peak so far
  const double before = resident("VmRSS");
  f();
  return resident("VmHWM") - before;
}

/// First come, first served; a GPU takes what a CPU takes.
class Fifo final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem&, RuntimeView&) override { queue_.clear(); }
  void ready(TaskId task) override { queue_.push_back(task); }
  TaskId pick(WorkerId) override {
    if (queue_.empty()) return kNoTask;
    const TaskId t = queue_.front();
    queue_.pop_front();
    return t;
  }
  void done(TaskId, WorkerId) override {}

 private:
  std::deque<TaskId> queue_;
};

/// Layers of tasks: each writes its datum and reads `fan` data of the layer before.
TaskGraph layered(std::size_t tasks, std::size_t width, int fan, std::int64_t bytes) {
  std::mt19937 random(1);
  TaskGraphBuilder b;
  std::vector<CostClass> classes;
  for (int i = 0; i < 16; ++i)
    classes.push_back(b.add_class({"k" + std::to_string(i), "", Flops(1), Bytes(1), 0}));
  std::vector<Access> accesses;
  for (std::size_t t = 0; t < tasks; ++t) {
    accesses.clear();
    const std::size_t layer = t / width;
    for (int f = 0; f < fan && layer > 0; ++f) {
      const auto d = static_cast<DataId>((layer - 1) * width + random() % width);
      accesses.push_back({d, AccessMode::read});
    }
    accesses.push_back({b.add_data({Bytes(bytes)}), AccessMode::write});
    b.add_task({.cost_class = classes[random() % 16]}, accesses);
  }
  return b.build();
}

Platform machine(int cpus, int gpus, bool shared) {
  Platform p;
  p.name = "benchmark";
  p.kinds.resize(2);
  p.kinds[0].name = "cpu";
  p.kinds[1].name = "gpu";
  p.kinds[1].type = DeviceType::cuda;
  p.memories.resize(static_cast<std::size_t>(gpus) + 1);
  for (int c = 0; c < cpus; ++c) p.workers.push_back({"cpu", 0, 0});
  p.links.push_back({"up", 24e9, Seconds(5e-6), shared});
  p.links.push_back({"down", 24e9, Seconds(5e-6), shared});
  for (int g = 1; g <= gpus; ++g) {
    p.workers.push_back({"gpu", 1, static_cast<MemoryId>(g)});
    p.links.push_back({"in", 12e9, Seconds(5e-6), shared});
    p.links.push_back({"out", 12e9, Seconds(5e-6), shared});
  }
  for (MemoryId a = 0; a <= gpus; ++a)
    for (MemoryId c = 0; c <= gpus; ++c) {
      if (a == c) continue;
      std::vector<LinkId> route;
      if (a != 0) route.push_back(static_cast<LinkId>(2 * a + 1));
      if (a == 0) route.push_back(1);
      if (c == 0) route.push_back(0);
      if (c != 0) route.push_back(static_cast<LinkId>(2 * c));
      p.set_route(a, c, route);
    }
  return p;
}

void run(benchmark::State& state, const Platform& p, std::int64_t bytes, bool trace) {
  const std::size_t n = static_cast<std::size_t>(state.range(0));
  TaskGraph g;
  ::malloc_trim(0);
  const double before = resident("VmRSS");
  g = layered(n, 64, 2, bytes);
  ::malloc_trim(0);
  state.counters["graph B/task"] = (resident("VmRSS") - before) / static_cast<double>(n);
  CostTable costs(g.classes.size(), 2);
  for (CostClass c = 0; c < g.classes.size(); ++c) {
    costs.set(c, 0, Seconds(1e-3 + 1e-4 * c), CostSource::given);
    costs.set(c, 1, Seconds(2e-4 + 1e-5 * c), CostSource::given);
  }
  SimulationOptions options;
  options.record_trace = trace;
  std::size_t transfers = 0;
  state.counters["engine B/task"] =
      peak_growth([&] {
        Fifo fifo;
        benchmark::DoNotOptimize(simulate({g, p, costs}, fifo, options).makespan);
      }) /
      static_cast<double>(n);
  for (auto _ : state) {
    Fifo fifo;
    const Trace result = simulate({g, p, costs}, fifo, options);
    benchmark::DoNotOptimize(result.makespan);
    transfers = result.transfers.size();
  }
  state.counters["tasks/s"] =
      benchmark::Counter(static_cast<double>(n * state.iterations()), benchmark::Counter::kIsRate);
  state.counters["transfers"] = static_cast<double>(transfers);
}

void one_memory(benchmark::State& state) {
  run(state, machine(16, 0, false), 1000, false);
}
void one_memory_trace(benchmark::State& state) {
  run(state, machine(16, 0, false), 1000, true);
}
void gpus_without_contention(benchmark::State& state) {
  run(state, machine(8, 4, false), 1000, false);
}
void gpus_with_contention(benchmark::State& state) {
  run(state, machine(8, 4, true), 400000, false);
}
void gpus_with_contention_trace(benchmark::State& state) {
  run(state, machine(8, 4, true), 400000, true);
}
BENCHMARK(one_memory)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(one_memory_trace)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(gpus_without_contention)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(gpus_with_contention)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);
BENCHMARK(gpus_with_contention_trace)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace espalier
