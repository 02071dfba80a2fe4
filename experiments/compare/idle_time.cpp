#include "experiments/compare/idle_time.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

namespace espalier {
namespace {

constexpr std::string_view kNames[kLostCauses] = {
    "waiting for a predecessor", "waiting for data", "waiting for memory", "nothing ready", "given no work",
    "runtime overhead"};
constexpr std::string_view kKeys[kLostCauses] = {"predecessor",   "data",    "memory",
                                                 "nothing_ready", "no_work", "overhead"};

constexpr std::size_t index_of(LostCause cause) {
  return static_cast<std::size_t>(cause);
}

/// How long no task of some set was ready and not started, as a function of time.
class Drought {
 public:
  /// `changes`: (time, +1 for a task that gets ready, -1 for one that starts).
  explicit Drought(std::vector<std::pair<double, int>> changes) {
    std::sort(changes.begin(), changes.end());
    double since = 0, sum = 0;
    int ready = 0;
    for (std::size_t i = 0; i < changes.size();) {
      const double time = changes[i].first;
      const int before = ready;
      for (; i < changes.size() && changes[i].first == time; ++i) ready += changes[i].second;
      if (before == 0 && ready > 0) {
        ends_.push_back({since, time, sum});
        sum += time - since;
      } else if (before > 0 && ready == 0) {
        since = time;
      }
    }
    ends_.push_back({since, std::numeric_limits<double>::infinity(), sum});
  }

  /// Seconds within [from, to] without a ready task.
  double within(double from, double to) const { return to > from ? until(to) - until(from) : 0; }

 private:
  struct Interval {
    double begin, end;
    double before;  ///< seconds in the intervals before this one
  };
  double until(double time) const {
    const auto next = std::upper_bound(ends_.begin(), ends_.end(), time,
                                       [](double t, const Interval& i) { return t < i.begin; });
    if (next == ends_.begin()) return 0;
    const Interval& i = *(next - 1);
    return i.before + std::min(time, i.end) - i.begin;
  }
  std::vector<Interval> ends_;
};

/// One drought for each kind; kinds that can run the same classes share it.
class Droughts {
 public:
  Droughts(const SchedulingProblem& problem, const Trace& trace) {
    std::map<std::vector<bool>, std::size_t> known;
    for (KindId k = 0; k < problem.platform.kinds.size(); ++k) {
      std::vector<bool> can(problem.graph.classes.size());
      for (CostClass c = 0; c < can.size(); ++c) can[c] = problem.costs.can_run(c, k);
      const auto [found, is_new] = known.emplace(std::move(can), droughts_.size());
      of_kind_.push_back(found->second);
      if (!is_new) continue;
      std::vector<std::pair<double, int>> changes;
      changes.reserve(2 * trace.tasks.size());
      for (const TaskEvent& e : trace.tasks)
        if (found->first[problem.graph.task(e.task).cost_class]) {
          changes.emplace_back(std::min(e.ready, e.start), 1);
          changes.emplace_back(e.start, -1);
        }
      droughts_.emplace_back(std::move(changes));
    }
  }
  const Drought& of(KindId kind) const { return droughts_[of_kind_[kind]]; }

 private:
  std::vector<Drought> droughts_;
  std::vector<std::size_t> of_kind_;
};

/// Cuts the gap [free, e.start] of a worker at the times of its next task.
LostTimes split_gap(const TaskEvent& e, double free, const Drought& drought) {
  LostTimes lost{};
  if (e.start <= free) return lost;
  const double ready = std::clamp(e.ready, free, e.start);
  const double room = std::clamp(e.memory_ready, ready, e.start);
  const double data = std::clamp(e.data_ready, room, e.start);
  const double nothing = std::min(drought.within(free, ready), ready - free);
  lost[index_of(LostCause::nothing_ready)] = nothing;
  lost[index_of(LostCause::predecessor)] = ready - free - nothing;
  lost[index_of(LostCause::memory)] = room - ready;
  lost[index_of(LostCause::data)] = data - room;
  lost[index_of(LostCause::overhead)] = e.start - data;
  return lost;
}

}  // namespace

std::string_view name_of(LostCause cause) {
  return kNames[index_of(cause)];
}

std::string_view key_of(LostCause cause) {
  return kKeys[index_of(cause)];
}

WorkerTime& WorkerTime::operator+=(const WorkerTime& other) {
  busy += other.busy;
  for (std::size_t i = 0; i < kLostCauses; ++i) lost[i] += other.lost[i];
  return *this;
}

double WorkerTime::total() const {
  return std::accumulate(lost.begin(), lost.end(), busy);
}

LostCause WorkerTime::largest() const {
  return static_cast<LostCause>(std::max_element(lost.begin(), lost.end()) - lost.begin());
}

IdleTime idle_time(const SchedulingProblem& problem, const Trace& trace) {
  const Droughts droughts(problem, trace);
  IdleTime result;
  result.by_worker.resize(problem.platform.workers.size());
  result.before.resize(trace.tasks.size());
  std::vector<std::uint32_t> order(trace.tasks.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return trace.tasks[a].start < trace.tasks[b].start;
  });
  std::vector<double> free(problem.platform.workers.size(), 0);
  for (const std::uint32_t i : order) {
    const TaskEvent& e = trace.tasks[i];
    WorkerTime& worker = result.by_worker[e.worker];
    const DeviceKind& kind = problem.platform.kind_of(e.worker);
    // task times of engines contain the runtime's cost of a task, measured ones do not
    const double overhead =
        trace.engine != "starpu" ? std::min(kind.task_overhead.value, e.end - e.start) : 0;
    result.before[i] = split_gap(e, free[e.worker], droughts.of(problem.platform.workers[e.worker].kind));
    worker += {e.end - e.start - overhead, result.before[i]};
    worker.lost[index_of(LostCause::overhead)] += overhead;
    free[e.worker] = std::max(free[e.worker], e.end);
  }
  for (WorkerId w = 0; w < free.size(); ++w) {
    if (free[w] >= trace.makespan) continue;
    const double nothing = droughts.of(problem.platform.workers[w].kind).within(free[w], trace.makespan);
    result.by_worker[w].lost[index_of(LostCause::nothing_ready)] += nothing;
    result.by_worker[w].lost[index_of(LostCause::no_work)] +=
        std::max(0.0, trace.makespan - free[w] - nothing);
  }
  return result;
}

std::vector<WorkerTime> by_kind(const Platform& platform, const IdleTime& idle) {
  std::vector<WorkerTime> kinds(platform.kinds.size());
  for (WorkerId w = 0; w < idle.by_worker.size(); ++w) kinds[platform.workers[w].kind] += idle.by_worker[w];
  return kinds;
}

}  // namespace espalier
