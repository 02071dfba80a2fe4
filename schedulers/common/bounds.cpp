#include "schedulers/common/bounds.hpp"

#include <algorithm>
#include <cmath>

#include "schedulers/common/fractional.hpp"
#include "schedulers/common/instance.hpp"
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
  FractionalAllocation allocation(instance);
  const double unit = allocation.unit();
  std::size_t used = 0;
  for (KindId k = 0; k < instance.kinds(); ++k) used += allocation.workers_of(k) > 0 ? 1 : 0;
  if (unit <= 0 || used == 1) return unit / static_cast<double>(instance.workers());
  allocation.close();
  return std::max(0.0, allocation.program().lower_bound(10) * unit);
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
  bounds.area_transfers = transfer_bound(problem);
  bounds.mixed = mixed_bound(problem);
  bounds.interval = interval_bound(problem);
  return bounds;
}

}  // namespace espalier
