#include "schedulers/common/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "schedulers/common/instance.hpp"
#include "schedulers/common/linear_program.hpp"
#include "schedulers/common/ranks.hpp"

namespace espalier {

double Bounds::best() const {
  return std::max({critical_path, area, area_transfers, mixed, interval});
}

double critical_path_bound(const SchedulingProblem& problem) {
  const Instance instance(problem);
  double longest = 0;
  for (const double level : static_levels(instance)) longest = std::max(longest, level);
  return longest;
}

double area_bound(const SchedulingProblem& problem) {
  const Instance instance(problem);
  std::vector<double> tasks_of(problem.graph.classes.size(), 0), workers_of(instance.kinds(), 0);
  std::vector<double> least(tasks_of.size(), 0);
  double total = 0;
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    tasks_of[instance.class_of(t)] += 1;
    least[instance.class_of(t)] = instance.least_seconds(t);
    total += instance.least_seconds(t);
  }
  for (WorkerId w = 0; w < instance.workers(); ++w) workers_of[instance.kind_of(w)] += 1;
  const auto used = std::count_if(workers_of.begin(), workers_of.end(), [](double n) { return n > 0; });
  if (total == 0 || used == 1) return total / static_cast<double>(instance.workers());

  // times in units of `total`, so that the LP's numbers are near 1; the makespan lies in [0, 1] then
  LinearProgram program;
  const int makespan = program.add_column(1, 0, 1);
  std::vector<std::vector<LinearProgram::Term>> load(instance.kinds());
  std::vector<LinearProgram::Term> all;
  for (CostClass c = 0; c < tasks_of.size(); ++c) {
    if (tasks_of[c] == 0 || least[c] == 0) continue;
    all.clear();
    for (KindId k = 0; k < instance.kinds(); ++k) {
      if (workers_of[k] == 0 || !problem.costs.can_run(c, k)) continue;
      const int share = program.add_column(0, 0, 1);
      all.push_back({share, 1});
      load[k].push_back({share, -tasks_of[c] * problem.costs.seconds(c, k) / total});
    }
    program.add_row_at_least(1, all);
  }
  for (KindId k = 0; k < instance.kinds(); ++k) {
    if (load[k].empty()) continue;
    load[k].push_back({makespan, workers_of[k]});
    program.add_row_at_least(0, load[k]);
  }
  return std::max(0.0, program.lower_bound(10) * total);
}

namespace {

/// Up to `limit` of the values, evenly by rank, smallest and largest included.
std::vector<double> thinned(std::vector<double> values, std::size_t limit) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.size() <= limit) return values;
  std::vector<double> kept;
  for (std::size_t i = 0; i < limit; ++i) kept.push_back(values[i * (values.size() - 1) / (limit - 1)]);
  return kept;
}

}  // namespace

/// Fernandez & Bussell, IEEE ToC 22(8), 1973: in a schedule of the critical path's length each task must run
/// between its earliest and its latest time; the work that must fall into [a, b] above p (b - a) prolongs it.
double interval_bound(const SchedulingProblem& problem) {
  const Instance instance(problem);
  for (WorkerId w = 1; w < instance.workers(); ++w)
    if (instance.kind_of(w) != instance.kind_of(0)) return 0;
  const std::size_t n = instance.tasks();
  const std::vector<double> early = earliest_starts(instance), level = static_levels(instance);
  double path = 0;
  for (const double l : level) path = std::max(path, l);
  std::vector<double> begins, ends;
  for (TaskId t = 0; t < n; ++t) {
    begins.push_back(early[t]);
    begins.push_back(path - level[t]);
    ends.push_back(early[t] + instance.least_seconds(t));
    ends.push_back(path - level[t] + instance.least_seconds(t));
  }
  constexpr double kOperations = 4e7;
  const auto limit =
      static_cast<std::size_t>(std::sqrt(kOperations / static_cast<double>(std::max<std::size_t>(n, 1))));
  if (limit < 4) return 0;
  begins = thinned(std::move(begins), limit);
  ends = thinned(std::move(ends), limit);
  const auto p = static_cast<double>(instance.workers());
  double excess = 0;
  for (const double a : begins)
    for (const double b : ends) {
      if (b <= a) continue;
      double work = 0;
      for (TaskId t = 0; t < n; ++t) {
        const double d = instance.least_seconds(t);
        const double inside = std::min({d, b - a, early[t] + d - a, b - (path - level[t])});
        work += std::max(0.0, inside);
      }
      excess = std::max(excess, work / p - (b - a));
    }
  return path + excess;
}

Bounds lower_bounds(const SchedulingProblem& problem) {
  Bounds bounds;
  bounds.critical_path = critical_path_bound(problem);
  bounds.area = area_bound(problem);
  bounds.interval = interval_bound(problem);
  return bounds;
}

}  // namespace espalier
