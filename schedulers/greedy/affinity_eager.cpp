#include <algorithm>
#include <limits>
#include <set>

#include "schedulers/common/ranks.hpp"
#include "schedulers/greedy/fetch_times.hpp"
#include "schedulers/greedy/greedy.hpp"

namespace espalier {
namespace {

constexpr double kArriving = 0.5;  ///< what is on its way is half there, on average
constexpr double kFetch = 3;       ///< a transfer also delays the others that share its links
constexpr double kSuccessorWeight = 0.5;
constexpr double kNear = 0.2;  ///< ranks that differ by less may change places
constexpr int kLook = 8;       ///< tasks of the own queue compared for missing inputs
constexpr int kSuccessorsSeen = 8;
constexpr int kStealDepth = 16;  ///< tasks of another queue that a thief looks at

/// Ready tasks go where they end first, counted with inputs present, on their way and absent, and with where
/// the other inputs of their successors lie; queues by upward rank; whoever is idle takes a task of another
/// queue that ends sooner with the thief.
class AffinityEager final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView& view) override {
    problem_ = &problem;
    view_ = &view;
    fetch_ = FetchTimes(problem);
    rank_ = upward_ranks(Instance(problem));
    const auto& workers = problem.platform.workers;
    queues_.assign(workers.size(), {});
    queued_.assign(workers.size(), 0);
    length_.assign(problem.graph.task_count(), 0);
    by_memory_.assign(problem.platform.memories.size(), 0);
    waiting_ = 0;
    const CostTable& costs = problem.costs;
    least_.assign(costs.kinds(), std::numeric_limits<double>::infinity());
    for (CostClass c = 0; c < costs.classes(); ++c)
      for (KindId k = 0; k < costs.kinds(); ++k) least_[k] = std::min(least_[k], costs.seconds(c, k));
  }

  void ready(TaskId task) override {
    for (MemoryId m = 0; m < by_memory_.size(); ++m)
      by_memory_[m] = fetch_.seconds(task, m, *view_, kArriving) + pull_of_successors(task, m);
    WorkerId best = kNoWorker;
    double best_end = std::numeric_limits<double>::infinity();
    const auto& workers = problem_->platform.workers;
    for (WorkerId w = 0; w < workers.size(); ++w) {
      if (!runs(task, w)) continue;
      const double free = view_->expected_free(w) + queued_before(w, rank_[task]);
      const double end = free + seconds(task, w) + kFetch * by_memory_[workers[w].memory];
      if (best == kNoWorker || end < best_end) {
        best = w;
        best_end = end;
      }
    }
    length_[task] = seconds(task, best);
    queued_[best] += length_[task];
    queues_[best].insert({-rank_[task], task});
    ++waiting_;
    view_->prefetch(task, workers[best].memory);
  }

  TaskId pick(WorkerId worker) override {
    if (!queues_[worker].empty()) return take(worker, nearest(worker));
    return waiting_ == 0 ? kNoTask : steal(worker);
  }
  void done(TaskId, WorkerId) override {}

 private:
  using Queue = std::set<std::pair<double, TaskId>>;  ///< (-rank, task)

  bool runs(TaskId task, WorkerId w) const {
    return problem_->costs.can_run(problem_->graph.task(task).cost_class, problem_->platform.workers[w].kind);
  }
  double seconds(TaskId task, WorkerId w) const {
    return problem_->costs.seconds(problem_->graph.task(task).cost_class, problem_->platform.workers[w].kind);
  }
  double queued_before(WorkerId w, double rank) const {
    const Queue& queue = queues_[w];
    if (queue.empty() || -queue.rbegin()->first >= rank) return queued_[w];
    double sum = 0;
    for (auto it = queue.begin(); it != queue.end() && -it->first >= rank; ++it) sum += length_[it->second];
    return sum;
  }

  /// Time that moving this task's output later takes: for the first successors, from memory m to where most
  /// bytes of their other inputs lie.
  double pull_of_successors(TaskId task, MemoryId m) const {
    if (by_memory_.size() == 1) return 0;
    const TaskGraph& graph = problem_->graph;
    double sum = 0;
    int seen = 0;
    for (const TaskId s : graph.successors(task)) {
      if (++seen > kSuccessorsSeen) break;
      std::int64_t here = 0, most = 0, own = 0;
      MemoryId where = m;
      for (const Access& in : graph.accesses(s)) {
        if (!reads(in.mode)) continue;
        const std::int64_t bytes = graph.data(in.data).size.value;
        if (writes_to(task, in.data)) {
          own += bytes;
          continue;
        }
        if (view_->is_valid(in.data, m)) {
          here += bytes;
          continue;
        }
        for (MemoryId other = 1; other < by_memory_.size(); ++other)
          if (view_->is_valid(in.data, other) && bytes > most) {
            most = bytes;
            where = other;
          }
      }
      if (most > here && own > 0) sum += fetch_.move(std::min(own, most), m, where);
    }
    return seen == 0 ? 0 : kSuccessorWeight * sum / std::min(seen, kSuccessorsSeen);
  }
  bool writes_to(TaskId task, DataId d) const {
    for (const Access& a : problem_->graph.accesses(task))
      if (a.data == d) return writes(a.mode);
    return false;
  }

  /// Among the tasks of about the highest rank, the one whose inputs are nearest.
  Queue::iterator nearest(WorkerId w) {
    Queue& queue = queues_[w];
    auto best = queue.begin();
    const MemoryId memory = problem_->platform.workers[w].memory;
    double least = fetch_.seconds(best->second, memory, *view_, kArriving);
    const double floor = (1 - kNear) * -best->first;
    auto it = std::next(best);
    for (int i = 1; i < kLook && least > 0 && it != queue.end() && -it->first >= floor; ++i, ++it)
      if (const double f = fetch_.seconds(it->second, memory, *view_, kArriving); f < least) {
        least = f;
        best = it;
      }
    return best;
  }

  TaskId take(WorkerId from, Queue::iterator it) {
    const TaskId task = it->second;
    queues_[from].erase(it);
    queued_[from] -= length_[task];
    if (queues_[from].empty()) queued_[from] = 0;
    --waiting_;
    return task;
  }

  /// From the longest queues, the task that gains most by running here.
  TaskId steal(WorkerId thief) {
    WorkerId victim = kNoWorker;
    Queue::iterator best;
    double best_gain = 0;
    const MemoryId memory = problem_->platform.workers[thief].memory;
    for (WorkerId v = 0; v < queues_.size(); ++v) {
      if (v == thief || queues_[v].empty()) continue;
      double start = view_->expected_free(v);
      if (start + queued_[v] <= view_->now() + least_[problem_->platform.workers[thief].kind]) continue;
      int seen = 0;
      for (auto it = queues_[v].begin(); it != queues_[v].end() && seen < kStealDepth; ++it, ++seen) {
        const TaskId task = it->second;
        const double end_there = start + length_[task];
        start = end_there;
        if (!runs(task, thief) || view_->now() + seconds(task, thief) >= end_there - best_gain) continue;
        const double end_here = view_->expected_free(thief) +
                                fetch_.seconds(task, memory, *view_, kArriving) + seconds(task, thief);
        if (end_there - end_here > best_gain) {
          best_gain = end_there - end_here;
          victim = v;
          best = it;
        }
      }
    }
    return victim == kNoWorker ? kNoTask : take(victim, best);
  }

  const SchedulingProblem* problem_ = nullptr;
  RuntimeView* view_ = nullptr;
  FetchTimes fetch_;
  std::vector<double> rank_, queued_, length_, by_memory_;
  std::vector<double> least_;  ///< shortest task of each kind of device
  std::vector<Queue> queues_;
  std::size_t waiting_ = 0;
};

}  // namespace

std::unique_ptr<OnlinePolicy> make_affinity_eager() {
  return std::make_unique<AffinityEager>();
}

}  // namespace espalier
