#include "schedulers/greedy/fetch_times.hpp"

#include <algorithm>
#include <limits>

namespace espalier {
namespace {

constexpr std::int64_t kProbe = std::int64_t{1} << 30;

}  // namespace

FetchTimes::FetchTimes(const SchedulingProblem& problem)
    : graph_(&problem.graph), memories_(problem.platform.memories.size()), lanes_(memories_ * memories_) {
  const Platform& platform = problem.platform;
  for (MemoryId a = 0; a < memories_; ++a)
    for (MemoryId b = 0; b < memories_; ++b) {
      if (a == b) continue;
      const auto time = [&](std::int64_t bytes) {
        if (platform.has_route(a, b)) return platform.transfer_time(Bytes(bytes), a, b).value;
        return platform.transfer_time(Bytes(bytes), a, 0).value +
               platform.transfer_time(Bytes(bytes), 0, b).value;
      };
      Lane& lane = lanes_[a * memories_ + b];
      lane.latency = time(0);
      lane.seconds_per_byte = (time(kProbe) - lane.latency) / static_cast<double>(kProbe);
    }
}

double FetchTimes::seconds(TaskId task, MemoryId memory, const RuntimeView& view, double arriving) const {
  double sum = 0;
  if (memories_ == 1) return sum;
  for (const Access& a : graph_->accesses(task)) {
    if (!reads(a.mode) || view.is_valid(a.data, memory)) continue;
    const std::int64_t bytes = graph_->data(a.data).size.value;
    double nearest = std::numeric_limits<double>::infinity();
    for (MemoryId m = 0; m < memories_; ++m)
      if (view.is_valid(a.data, m)) nearest = std::min(nearest, move(bytes, m, memory));
    if (nearest == std::numeric_limits<double>::infinity()) continue;
    sum += view.is_arriving(a.data, memory) ? arriving * nearest : nearest;
  }
  return sum;
}

int FetchTimes::missing(TaskId task, MemoryId memory, const RuntimeView& view) const {
  int n = 0;
  for (const Access& a : graph_->accesses(task))
    if (reads(a.mode) && !view.is_valid(a.data, memory)) ++n;
  return n;
}

}  // namespace espalier
