#include "experiments/validation/differences.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>

namespace espalier {
namespace {

LostTimes lost_in(const SchedulingProblem& problem, const Trace& trace) {
  WorkerTime all;
  for (const WorkerTime& w : idle_time(problem, trace).by_worker) all += w;
  return all.lost;
}

/// Without the runtime's share, which the engines' task times contain.
double kernel_time(const SchedulingProblem& problem, const Trace& trace, const TaskEvent& e) {
  const double overhead =
      trace.engine != "starpu" ? problem.platform.kind_of(e.worker).task_overhead.value : 0;
  return std::max(0.0, e.end - e.start - overhead);
}

}  // namespace

std::string TraceDifference::largest() const {
  std::string text;
  double most = 0;
  const auto offer = [&](const std::string& what, double difference) {
    if (std::abs(difference) <= most) return;
    most = std::abs(difference);
    text = fmt::format("{} {:+.3g} ms", what, difference * 1e3);
  };
  for (const KindDifference& k : kinds) offer(k.codelet + " tasks", k.simulated - k.real);
  for (std::size_t c = 0; c < kLostCauses; ++c)
    offer(std::string(name_of(static_cast<LostCause>(c))), simulated_lost[c] - real_lost[c]);
  return text;
}

TraceDifference difference_of(const SchedulingProblem& problem, const Trace& simulated, const Trace& real) {
  std::map<std::string, KindDifference> kinds;
  for (const Trace* trace : {&simulated, &real})
    for (const TaskEvent& e : trace->tasks) {
      KindDifference& k = kinds[problem.graph.class_of(e.task).codelet];
      (trace == &simulated ? k.simulated : k.real) += kernel_time(problem, *trace, e);
      if (trace == &simulated) ++k.tasks;
    }
  TraceDifference d;
  for (auto& [codelet, k] : kinds) {
    k.codelet = codelet;
    d.kinds.push_back(k);
  }
  std::stable_sort(d.kinds.begin(), d.kinds.end(), [](const KindDifference& a, const KindDifference& b) {
    return std::abs(a.simulated - a.real) > std::abs(b.simulated - b.real);
  });
  d.simulated_lost = lost_in(problem, simulated);
  d.real_lost = lost_in(problem, real);
  return d;
}

}  // namespace espalier
