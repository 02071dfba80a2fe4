#include "experiments/calibrate/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace espalier {
namespace {

/// Median and half the width of its 95 % confidence interval from order statistics (binomial, normal
/// approximation: ranks n / 2 -+ 0.98 sqrt n).
std::pair<double, double> median_with_error(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double middle = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  const double reach = 0.98 * std::sqrt(static_cast<double>(n));
  const double half = static_cast<double>(n) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(half - reach)));
  const auto high = std::min(n - 1, static_cast<std::size_t>(std::ceil(half + reach)));
  return {middle, (values[high] - values[low]) / 2};
}

class Samples {
 public:
  explicit Samples(const TaskGraph& graph)
      : graph_(graph), times_(graph.classes.size()), count_(times_.size(), 0) {
    for (TaskId t = 0; t < graph.task_count(); ++t) ++count_[graph.task(t).cost_class];
  }

  void add(const Trace& trace, unsigned workers) {
    std::vector<const TaskEvent*> last(workers, nullptr);
    for (const TaskEvent& e : trace.tasks) {  // by end time: the events of one worker come in its order
      times_[graph_.task(e.task).cost_class].push_back(e.end - e.start);
      const TaskEvent*& before = last.at(e.worker);
      if (before != nullptr && e.ready <= before->end) gaps_.push_back(e.start - before->end);
      before = &e;
    }
  }

  MeasuredCosts costs() {
    MeasuredCosts costs;
    sum_ = variance_ = 0;
    for (CostClass c = 0; c < times_.size(); ++c) {
      if (times_[c].empty()) continue;
      const auto [middle, error] = median_with_error(times_[c]);
      if (!(middle > 0)) continue;
      costs.set(graph_.classes[c], {middle, error / middle, times_[c].size()});
      sum_ += count_[c] * middle;
      variance_ += count_[c] * error * count_[c] * error;
    }
    if (!gaps_.empty()) costs.task_overhead = std::max(0.0, median_with_error(gaps_).first);
    return costs;
  }
  /// After costs(). Errors of classes are independent.
  double relative_error() const { return sum_ > 0 ? std::sqrt(variance_) / sum_ : 0; }

 private:
  const TaskGraph& graph_;
  std::vector<std::vector<double>> times_;  ///< by class
  std::vector<double> count_, gaps_;
  double sum_ = 0, variance_ = 0;
};

}  // namespace

CalibrationResult calibrate(starpu::NetworkSession& session, const CalibrationLimits& limits) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  Samples samples(session.program().tasks);
  CalibrationResult result;
  session.run();  // first touch of memory, caches, lazily made primitives
  for (double spent = 0;;) {
    const starpu::RunStatistics statistics = session.run();
    result.interrupted = statistics.interrupted;
    if (result.interrupted) break;
    ++result.runs;
    samples.add(session.trace(), static_cast<unsigned>(statistics.tasks.size()));
    spent = std::chrono::duration<double>(Clock::now() - begin).count();
    if (result.runs < 3) continue;  // a median of fewer says nothing
    const bool late = spent > limits.max_seconds;
    if (result.runs < limits.min_runs && !late) continue;
    if ((result.runs & (result.runs - 1)) != 0 && result.runs % 8 != 0 && !late) continue;
    result.costs = samples.costs();
    result.relative_error = samples.relative_error();
    if (late || result.relative_error <= limits.relative_error) break;
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace espalier
