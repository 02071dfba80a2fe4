#include "experiments/calibrate/calibration.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "experiments/calibrate/median.hpp"

namespace espalier {

CostSamples::CostSamples(const TaskGraph& graph)
    : graph_(graph), times_(graph.classes.size()), count_(times_.size(), 0) {
  for (TaskId t = 0; t < graph.task_count(); ++t) ++count_[graph.task(t).cost_class];
}

void CostSamples::add(const Trace& trace, unsigned workers) {
  std::vector<const TaskEvent*> last(workers, nullptr);
  std::vector<double> first(workers, trace.makespan);
  double end = 0;
  for (const TaskEvent& e : trace.tasks) {  // by end time: the events of one worker come in its order
    times_[graph_.task(e.task).cost_class].push_back({e.end - e.start, runs_});
    const TaskEvent*& before = last.at(e.worker);
    if (before == nullptr) first[e.worker] = e.start;
    if (before != nullptr && e.ready <= before->end) gaps_.push_back(e.start - before->end);
    before = &e;
    end = std::max(end, e.end);
  }
  ++runs_;
  if (trace.tasks.empty()) return;
  double start = 0;
  int used = 0;
  for (unsigned w = 0; w < workers; ++w)
    if (last[w] != nullptr) {
      start += first[w];
      ++used;
    }
  edges_.push_back(start / used + trace.makespan - end);
}

MeasuredCosts CostSamples::costs() {
  MeasuredCosts costs;
  sum_ = variance_ = 0;
  means_.assign(times_.size(), 0);
  for (CostClass c = 0; c < times_.size(); ++c) {
    std::vector<double> values;
    for (const Sample& s : times_[c]) values.push_back(s.seconds);
    const double mean = robust_mean(values);
    if (!(mean > 0)) continue;
    means_[c] = mean;
    const MedianInterval interval = median_interval(values);
    const double error = (interval.high - interval.low) / 2;
    costs.set(graph_.classes[c], {mean, error / mean, values.size()});
    sum_ += count_[c] * mean;
    variance_ += count_[c] * error * count_[c] * error;
  }
  costs.overhead = {std::max(0.0, robust_mean(gaps_)), gaps_.size(), true};
  costs.run_overhead = std::max(0.0, median_interval(edges_).median);
  costs.deviation = deviation();
  return costs;
}

/// Of a task's time from its class's mean within one run, relative; what a whole run is faster or slower does
/// not count. From the median absolute deviation.
double CostSamples::deviation() const {
  std::vector<double> taken(static_cast<std::size_t>(runs_), 0), expected(taken.size(), 0);
  for (CostClass c = 0; c < times_.size(); ++c)
    for (const Sample& s : times_[c]) {
      taken[static_cast<std::size_t>(s.run)] += s.seconds;
      expected[static_cast<std::size_t>(s.run)] += means_[c];
    }
  std::vector<double> off;
  for (CostClass c = 0; c < times_.size(); ++c)
    for (const Sample& s : times_[c]) {
      const auto r = static_cast<std::size_t>(s.run);
      if (means_[c] > 0 && expected[r] > 0)
        off.push_back(std::abs(s.seconds / means_[c] * expected[r] / taken[r] - 1));
    }
  return off.empty() ? 0 : 1.4826 * median_interval(std::move(off)).median;
}

CalibrationResult calibrate(starpu::NetworkSession& session, const CalibrationLimits& limits) {
  using Clock = std::chrono::steady_clock;
  constexpr int kLeast = 3;  // a median of fewer says nothing
  const auto begin = Clock::now();
  CostSamples clean(session.program().tasks), all(session.program().tasks);
  CalibrationResult result;
  session.run();  // first touch of memory, caches, lazily made primitives
  for (;;) {
    const starpu::RunStatistics statistics = session.run();
    result.interrupted = statistics.interrupted;
    if (result.interrupted) break;
    const auto workers = static_cast<unsigned>(statistics.tasks.size());
    const Trace trace = session.trace();
    ++result.runs;
    all.add(trace, workers);
    if (statistics.disturbed())
      ++result.disturbed;
    else
      clean.add(trace, workers);
    const bool late = std::chrono::duration<double>(Clock::now() - begin).count() > limits.max_seconds;
    result.trusted = clean.runs() >= kLeast;
    if (!late && clean.runs() < std::max(kLeast, limits.min_runs)) continue;
    if (result.runs < kLeast) continue;
    if ((result.runs & (result.runs - 1)) != 0 && result.runs % 8 != 0 && !late) continue;
    CostSamples& samples = result.trusted ? clean : all;
    result.costs = samples.costs();
    result.relative_error = samples.relative_error();
    if (late || result.relative_error <= limits.relative_error) break;
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

}  // namespace espalier
