#include "experiments/run/prediction.hpp"

#include <algorithm>

#include "experiments/calibrate/median.hpp"

namespace espalier {

double predicted_makespan(const LocalProblem& local, const SimulatedRun& simulated) {
  constexpr std::size_t kRuns = 15, kMostTasks = 2'000'000;
  SchedulingProblem problem = local.problem();
  SimulationOptions options;
  options.record_trace = false;
  options.duration_noise = local.deviation;
  const std::size_t tasks = std::max<std::size_t>(1, problem.graph.task_count());
  const std::size_t runs = local.deviation > 0 ? std::clamp<std::size_t>(kMostTasks / tasks, 1, kRuns) : 1;
  std::vector<double> makespans;
  for (std::size_t i = 0; i < runs; ++i) {
    makespans.push_back(simulated(problem, options).makespan);
    ++problem.seed;
  }
  return local.run_overhead + median_interval(std::move(makespans)).median;
}

}  // namespace espalier
