#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <unordered_set>

#include "runtime/task_graph/sources/generators.hpp"
#include "runtime/task_graph/sources/weighted_dag.hpp"

namespace espalier::source {
namespace {

/// Draws times and edge weights from what the options say.
class Synthetic {
 public:
  explicit Synthetic(GeneratorOptions& options)
      : options_(options),
        random_(static_cast<std::uint64_t>(options.whole("seed", 0, 0, std::int64_t{1} << 62))),
        least_(options.whole("min", 1, 0, 1'000'000'000)),
        most_(options.whole("max", 10, 0, 1'000'000'000)),
        ccr_(options.number("ccr", 0, 0, 1e6)) {
    if (most_ < least_) options.refuse(fmt::format("max {} is less than min {}", most_, least_));
  }

  void require(std::int64_t tasks, std::int64_t edges) const {
    if (tasks > kMostGeneratedTasks || edges > 5 * kMostGeneratedTasks)
      options_.refuse(fmt::format("{} tasks and {} edges are more than {} and {}", tasks, edges,
                                  kMostGeneratedTasks, 5 * kMostGeneratedTasks));
  }
  std::uint32_t task() {
    const auto range = static_cast<std::uint64_t>(most_ - least_ + 1);
    dag_.weights.push_back(static_cast<double>(least_) + static_cast<double>(random_.below(range)));
    dag_.names.push_back(std::to_string(dag_.names.size()));
    return static_cast<std::uint32_t>(dag_.weights.size() - 1);
  }
  /// Whole units of 1 .. 2 ccr mean - 1: the mean is ccr times the mean time.
  void edge(std::uint32_t from, std::uint32_t to) {
    dag_.edges.emplace_back(from, to);
    const double mean = ccr_ * 0.5 * static_cast<double>(least_ + most_);
    const auto range = static_cast<std::uint64_t>(std::max(1.0, std::round(2 * mean - 1)));
    dag_.edge_weights.push_back(mean > 0 ? 1 + static_cast<double>(random_.below(range)) : 0);
  }
  Random& random() { return random_; }
  LoadedTaskGraph build(std::string name) {
    dag_.name = std::move(name);
    return to_task_graph(dag_);
  }

 private:
  GeneratorOptions& options_;
  Random random_;
  std::int64_t least_, most_;
  double ccr_;
  WeightedDag dag_;
};

}  // namespace

/// `layers` layers of `width` tasks; each task has 1 .. 2 degree - 1 predecessors, degree on average, in the
/// layer before.
LoadedTaskGraph layered(GeneratorOptions& options) {
  const auto layers = options.whole("layers", 10, 1, kMostGeneratedTasks, true);
  const auto width = options.whole("width", 10, 1, kMostGeneratedTasks);
  const auto degree = options.whole("degree", 2, 1, 1000);
  Synthetic s(options);
  options.finish();
  s.require(layers * width > kMostGeneratedTasks ? kMostGeneratedTasks + 1 : layers * width,
            std::min<std::int64_t>(layers * width, kMostGeneratedTasks) * std::min(2 * degree, width));
  std::vector<std::uint32_t> chosen;
  for (std::int64_t l = 0; l < layers; ++l)
    for (std::int64_t i = 0; i < width; ++i) {
      const std::uint32_t t = s.task();
      if (l == 0) continue;
      const auto n = 1 + s.random().below(static_cast<std::uint64_t>(2 * degree - 1));
      chosen.clear();
      for (std::uint64_t k = 0; k < n; ++k)
        chosen.push_back(static_cast<std::uint32_t>((l - 1) * width) +
                         static_cast<std::uint32_t>(s.random().below(static_cast<std::uint64_t>(width))));
      std::sort(chosen.begin(), chosen.end());
      chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
      for (const std::uint32_t p : chosen) s.edge(p, t);
    }
  return s.build(fmt::format("layered {}x{}", layers, width));
}

/// `stages` times a fork into `width` tasks and a join.
LoadedTaskGraph fork_join(GeneratorOptions& options) {
  const auto width = options.whole("width", 8, 1, kMostGeneratedTasks, true);
  const auto stages = options.whole("stages", 3, 1, kMostGeneratedTasks);
  Synthetic s(options);
  options.finish();
  const auto tasks = static_cast<double>(stages) * static_cast<double>(width + 1) + 1;
  s.require(tasks > 1e18 ? std::int64_t{1} << 60 : static_cast<std::int64_t>(tasks), 0);
  std::uint32_t fork = s.task();
  for (std::int64_t stage = 0; stage < stages; ++stage) {
    std::vector<std::uint32_t> branches;
    for (std::int64_t i = 0; i < width; ++i) {
      branches.push_back(s.task());
      s.edge(fork, branches.back());
    }
    fork = s.task();
    for (const std::uint32_t b : branches) s.edge(b, fork);
  }
  return s.build(fmt::format("fork-join {}x{}", stages, width));
}

/// `steps` sweeps over `width` cells; a cell needs itself and its two neighbours of the sweep before.
LoadedTaskGraph stencil(GeneratorOptions& options) {
  const auto width = options.whole("width", 16, 1, kMostGeneratedTasks, true);
  const auto steps = options.whole("steps", 10, 1, kMostGeneratedTasks);
  Synthetic s(options);
  options.finish();
  const double tasks = static_cast<double>(width) * static_cast<double>(steps);
  s.require(tasks > 1e18 ? std::int64_t{1} << 60 : static_cast<std::int64_t>(tasks), 0);
  for (std::int64_t step = 0; step < steps; ++step)
    for (std::int64_t i = 0; i < width; ++i) {
      const std::uint32_t t = s.task();
      if (step == 0) continue;
      for (std::int64_t j = std::max<std::int64_t>(0, i - 1); j <= std::min(width - 1, i + 1); ++j)
        s.edge(static_cast<std::uint32_t>((step - 1) * width + j), t);
    }
  return s.build(fmt::format("stencil {}x{}", width, steps));
}

/// `tasks` tasks in a fixed order; each has 0 .. 2 degree predecessors, degree on average, drawn evenly from
/// the `window` tasks before it.
LoadedTaskGraph random_dag(GeneratorOptions& options) {
  const auto tasks = options.whole("tasks", 100, 1, kMostGeneratedTasks, true);
  const auto degree = options.whole("degree", 2, 0, 1000);
  const auto window = options.whole("window", tasks, 1, kMostGeneratedTasks);
  Synthetic s(options);
  options.finish();
  s.require(tasks, tasks * 2 * degree);
  std::vector<std::uint32_t> chosen;
  for (std::int64_t i = 0; i < tasks; ++i) {
    const std::uint32_t t = s.task();
    const auto reach = static_cast<std::uint64_t>(std::min(i, window));
    if (reach == 0) continue;
    const auto n = s.random().below(static_cast<std::uint64_t>(2 * degree + 1));
    chosen.clear();
    for (std::uint64_t k = 0; k < n; ++k)
      chosen.push_back(t - 1 - static_cast<std::uint32_t>(s.random().below(reach)));
    std::sort(chosen.begin(), chosen.end());
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    for (const std::uint32_t p : chosen) s.edge(p, t);
  }
  return s.build(fmt::format("random {}", tasks));
}

}  // namespace espalier::source
