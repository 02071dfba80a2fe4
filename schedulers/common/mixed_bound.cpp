#include <algorithm>

#include "schedulers/common/fractional.hpp"
#include "schedulers/common/link_schedule.hpp"

namespace espalier {
namespace {

/// Work limits, not time limits: the same bound on every run.
constexpr int kMostRounds = 12;
constexpr std::size_t kMostPathTasks = 3000;
constexpr double kSecondsPerProgram = 2;

/// Area LP in which the tasks of some paths have columns of their own and each path's time is at most the
/// makespan. Paths are the longest ones under the LP's fractional times, found in rounds.
class MixedBound {
 public:
  explicit MixedBound(const Instance& instance) : instance_(instance), own_(instance.tasks(), 0) {
    find_private_kinds();
  }

  double run() {
    double best = 0;
    std::vector<double> time(instance_.tasks());
    for (TaskId t = 0; t < instance_.tasks(); ++t) time[t] = instance_.least_seconds(t);
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<TaskId> path = longest_path(time);
      double length = 0;
      for (const TaskId t : path) length += time[t];
      if (round > 0 && length <= best * (1 + 1e-6)) break;
      for (const TaskId t : path)
        if (own_[t] == 0) {
          own_[t] = 1;
          ++own_count_;
        }
      if (own_count_ > kMostPathTasks) break;
      paths_.push_back(std::move(path));
      best = std::max(best, solve(time));
    }
    return best;
  }

 private:
  /// Kinds whose memories no other kind's workers use: leaving or entering them is a transfer.
  void find_private_kinds() {
    private_.assign(instance_.kinds(), 1);
    for (WorkerId a = 0; a < instance_.workers(); ++a)
      for (WorkerId b = 0; b < instance_.workers(); ++b)
        if (instance_.memory_of(a) == instance_.memory_of(b) && instance_.kind_of(a) != instance_.kind_of(b))
          private_[instance_.kind_of(a)] = 0;
  }

  std::vector<TaskId> longest_path(const std::vector<double>& time) const {
    std::vector<double> level(instance_.tasks(), 0);
    std::vector<TaskId> next(instance_.tasks(), kNoTask);
    TaskId first = kNoTask;
    for (auto t = static_cast<TaskId>(instance_.tasks()); t-- > 0;) {
      for (const auto& edge : instance_.outputs(t))
        if (next[t] == kNoTask || level[edge.task] > level[next[t]]) next[t] = edge.task;
      level[t] = time[t] + (next[t] == kNoTask ? 0 : level[next[t]]);
      if (first == kNoTask || level[t] >= level[first]) first = t;
    }
    std::vector<TaskId> path;
    for (TaskId t = first; t != kNoTask; t = next[t]) path.push_back(t);
    return path;
  }

  /// Solves the LP of all paths so far; leaves each task's fractional time.
  double solve(std::vector<double>& time) {
    FractionalAllocation allocation(instance_);
    LinearProgram& program = allocation.program();
    std::vector<int> column(instance_.tasks(), -1);  // first of the task's columns, by kind
    std::vector<LinearProgram::Term> terms;
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      if (own_[t] == 0) continue;
      const CostClass c = instance_.class_of(t);
      allocation.take_out(c);
      column[t] = static_cast<int>(program.columns());
      terms.clear();
      for (KindId k = 0; k < instance_.kinds(); ++k) {
        const bool able = allocation.share_column(c, k) >= 0;
        const int share = program.add_column(0, 0, able ? 1 : 0);
        if (!able) continue;
        terms.push_back({share, 1});
        allocation.add_load(k, {share, -allocation.scaled(c, k)});
      }
      program.add_row_at_least(1, terms);
    }
    for (const std::vector<TaskId>& path : paths_) add_path(allocation, path, column);
    allocation.close();
    const double bound = program.lower_bound(kSecondsPerProgram) * allocation.unit();
    for (TaskId t = 0; t < instance_.tasks(); ++t) {
      const CostClass c = instance_.class_of(t);
      time[t] = 0;
      for (KindId k = 0; k < instance_.kinds(); ++k) {
        const int share = own_[t] != 0 ? column[t] + k : allocation.share_column(c, k);
        if (share < 0 || allocation.share_column(c, k) < 0) continue;
        time[t] += program.solution()[share] * instance_.seconds_of_kind(t, k);
      }
    }
    return bound;
  }

  /// makespan >= sum of the path's times and of the transfers into and out of private kinds.
  void add_path(FractionalAllocation& allocation, const std::vector<TaskId>& path,
                const std::vector<int>& column) const {
    std::vector<LinearProgram::Term> length{{allocation.makespan_column(), 1}};
    for (std::size_t i = 0; i < path.size(); ++i) {
      const TaskId t = path[i];
      for (KindId k = 0; k < instance_.kinds(); ++k)
        if (allocation.share_column(instance_.class_of(t), k) >= 0)
          length.push_back({column[t] + k, -allocation.scaled(instance_.class_of(t), k)});
      if (i > 0) add_transfer(allocation, path[i - 1], t, column, length);
    }
    allocation.program().add_row_at_least(0, length);
  }

  void add_transfer(FractionalAllocation& allocation, TaskId from, TaskId to, const std::vector<int>& column,
                    std::vector<LinearProgram::Term>& length) const {
    const auto inputs = instance_.inputs(to);
    const auto edge =
        std::find_if(inputs.begin(), inputs.end(), [&](const auto& e) { return e.task == from; });
    if (edge == inputs.end() || edge->bytes == 0) return;
    const double seconds = instance_.least_remote_transfer(edge->bytes);
    if (seconds <= 0 || std::none_of(private_.begin(), private_.end(), [](char p) { return p != 0; })) return;
    const int crossing = allocation.program().add_column(0, 0, 1);
    for (KindId k = 0; k < instance_.kinds(); ++k) {
      if (private_[k] == 0 || allocation.workers_of(k) == 0) continue;
      for (const auto& [in, out] : {std::pair{to, from}, {from, to}}) {
        const LinearProgram::Term terms[] = {{crossing, 1}, {column[in] + k, -1}, {column[out] + k, 1}};
        allocation.program().add_row_at_least(0, terms);
      }
    }
    length.push_back({crossing, -seconds / allocation.unit()});
  }

  const Instance& instance_;
  std::vector<char> own_, private_;
  std::size_t own_count_ = 0;
  std::vector<std::vector<TaskId>> paths_;
};

}  // namespace

namespace {

/// Longest path in which each task may run anywhere, but its inputs must get there: for each place the
/// earliest end, over the best places of the predecessors, each datum by itself. A datum may also come over a
/// third memory; where that were faster than the direct way this is no bound, and 0 is returned.
double placed_path_bound(const Instance& instance) {
  const TaskGraph& graph = instance.problem().graph;
  const std::vector<Place> places = places_of(instance);
  constexpr std::size_t kMostWork = 20'000'000;
  if (places.size() < 2 || !instance.direct_is_fastest()) return 0;
  if (graph.task_count() * places.size() * places.size() > kMostWork) return 0;
  const Platform& platform = instance.problem().platform;
  for (const Place& a : places)  // a way through the host may be pipelined
    for (const Place& b : places)
      for (const MemoryId from : {a.memory, MemoryId{0}})
        if (from != b.memory && !platform.has_route(from, b.memory)) return 0;
  std::vector<double> end(graph.task_count() * places.size(), 0);
  std::vector<TaskId> writer(graph.data_count(), kNoTask);
  double longest = 0;
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    double least = Instance::infinity();
    for (std::size_t p = 0; p < places.size(); ++p) {
      double start = 0;
      for (const TaskId u : graph.predecessors(t)) {
        double soonest = Instance::infinity();
        for (std::size_t q = 0; q < places.size(); ++q)
          soonest = std::min(soonest, end[u * places.size() + q]);
        start = std::max(start, soonest);
      }
      for (const Access& a : graph.accesses(t)) {
        if (!reads(a.mode)) continue;
        const std::int64_t bytes = graph.data(a.data).size.value;
        const TaskId u = writer[a.data];
        if (u == kNoTask) {
          start = std::max(start, instance.transfer(bytes, graph.data(a.data).home, places[p].memory));
          continue;
        }
        double soonest = Instance::infinity();
        for (std::size_t q = 0; q < places.size(); ++q)
          soonest = std::min(soonest, end[u * places.size() + q] +
                                          instance.transfer(bytes, places[q].memory, places[p].memory));
        start = std::max(start, soonest);
      }
      double& mine = end[t * places.size() + p];
      mine = start + instance.seconds(t, places[p].workers[0]);
      least = std::min(least, mine);
    }
    longest = std::max(longest, least);
    for (const Access& a : graph.accesses(t))
      if (writes(a.mode)) writer[a.data] = t;
  }
  return longest;
}

}  // namespace

double mixed_bound(const SchedulingProblem& problem) {
  const Instance instance(problem);
  double total = 0;
  for (TaskId t = 0; t < instance.tasks(); ++t) total += instance.least_seconds(t);
  bool one_kind = true;  // then a path does not depend on the allocation
  for (WorkerId w = 1; w < instance.workers(); ++w)
    one_kind = one_kind && instance.kind_of(w) == instance.kind_of(0);
  const double placed = total > 0 ? placed_path_bound(instance) : 0;
  return total > 0 && !one_kind ? std::max(placed, MixedBound(instance).run()) : placed;
}

}  // namespace espalier
