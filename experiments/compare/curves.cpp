#include "experiments/compare/curves.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/task_graph/sources/source.hpp"

namespace espalier {
namespace {

/// Adds weight x time of [start, end] to the parts that it covers.
class Histogram {
 public:
  Histogram(std::size_t parts, double length)
      : sums_(parts + 1, 0), slopes_(parts + 1, 0), width_(length / static_cast<double>(parts)) {}

  void add(double start, double end, double weight) {
    if (end <= start) return;
    step(start, weight);
    step(end, -weight);
  }
  /// Means over the parts.
  std::vector<double> means() const {
    std::vector<double> means;
    double level = 0;
    for (std::size_t i = 0; i + 1 < sums_.size(); ++i) {
      means.push_back(std::max(0.0, level + sums_[i]));
      level += slopes_[i];
    }
    return means;
  }

 private:
  /// A level that changes at `time`: the part gets its share, the later ones all of it.
  void step(double time, double weight) {
    const double at = width_ > 0 ? std::clamp(time / width_, 0.0, static_cast<double>(sums_.size() - 1)) : 0;
    const auto part = static_cast<std::size_t>(at);
    sums_[part] += weight * (static_cast<double>(part) + 1 - at);
    slopes_[part] += weight;
  }
  std::vector<double> sums_, slopes_;
  double width_;
};

std::vector<std::vector<double>> memory_curves(const Platform& platform, const Trace& trace,
                                               std::size_t parts) {
  if (trace.memory.empty() || trace.makespan <= 0) return {};
  std::vector<std::vector<double>> most(platform.memories.size(), std::vector<double>(parts, -1));
  std::vector<std::vector<double>> last = most;
  for (const MemorySample& s : trace.memory) {
    const auto part =
        std::min(parts - 1, static_cast<std::size_t>(s.time / trace.makespan * static_cast<double>(parts)));
    most[s.memory][part] = std::max(most[s.memory][part], static_cast<double>(s.bytes));
    last[s.memory][part] = static_cast<double>(s.bytes);
  }
  for (std::size_t m = 0; m < most.size(); ++m) {
    double level = 0;
    for (std::size_t i = 0; i < parts; ++i) {
      most[m][i] = std::max(most[m][i], level);
      if (last[m][i] >= 0) level = last[m][i];
    }
  }
  return most;
}

}  // namespace

Curves make_curves(const SchedulingProblem& problem, const Trace& trace, std::size_t parts) {
  Curves curves;
  Histogram ready(parts, trace.makespan);
  std::vector<Histogram> busy(problem.platform.kinds.size(), Histogram(parts, trace.makespan));
  std::vector<double> workers(problem.platform.kinds.size(), 0);
  for (const Worker& w : problem.platform.workers) workers[w.kind] += 1;
  for (const TaskEvent& e : trace.tasks) {
    const KindId kind = problem.platform.workers[e.worker].kind;
    ready.add(e.ready, e.start, 1);
    busy[kind].add(e.start, e.end, 1 / workers[kind]);
  }
  curves.ready = ready.means();
  for (const Histogram& h : busy) curves.busy.push_back(h.means());
  curves.memory = memory_curves(problem.platform, trace, parts);
  return curves;
}

std::vector<LinkUse> link_use(const SchedulingProblem& problem, const Trace& trace) {
  const Platform& platform = problem.platform;
  std::vector<double> bytes(platform.links.size(), 0);
  for (const TransferEvent& e : trace.transfers)
    for (const LinkId l : platform.route(e.from, e.to))
      bytes[l] += static_cast<double>(problem.graph.data(e.data).size.value);
  std::vector<LinkUse> uses;
  for (LinkId l = 0; l < bytes.size(); ++l)
    if (bytes[l] > 0) {
      const double time = bytes[l] / platform.links[l].bandwidth;
      uses.push_back({l, problem.graph.unit_less ? bytes[l] / kBytesPerUnit : bytes[l],
                      trace.makespan > 0 ? time / trace.makespan : 0});
    }
  std::stable_sort(uses.begin(), uses.end(),
                   [](const LinkUse& a, const LinkUse& b) { return a.busy > b.busy; });
  return uses;
}

}  // namespace espalier
