#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "schedulers/greedy/greedy.hpp"

namespace espalier {
namespace {

/// A bucket for each cost class. Each kind of device goes through the buckets by falling advantage over the
/// other kinds; a kind that is slower at a class than another takes from its bucket only while enough tasks
/// are left for all workers of the faster kind.
class HeteroPrio final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView&) override {
    problem_ = &problem;
    const CostTable& costs = problem.costs;
    const std::size_t kinds = problem.platform.kinds.size(), classes = problem.graph.classes.size();
    buckets_.assign(classes, {});
    workers_.assign(kinds, 0);
    for (const Worker& w : problem.platform.workers) ++workers_[w.kind];
    order_.assign(kinds, {});
    reserve_.assign(kinds * classes, 0);
    for (KindId k = 0; k < kinds; ++k) {
      if (workers_[k] == 0) continue;
      std::vector<double> advantage(classes, 0);
      for (CostClass c = 0; c < classes; ++c) {
        if (!costs.can_run(c, k)) continue;
        order_[k].push_back(c);
        advantage[c] = relative_advantage(c, k);
      }
      std::stable_sort(order_[k].begin(), order_[k].end(),
                       [&](CostClass a, CostClass b) { return advantage[a] > advantage[b]; });
    }
  }
  void ready(TaskId task) override {
    const Task& t = problem_->graph.task(task);
    buckets_[t.cost_class].insert({-t.priority, task});
    ++count_;
    if (buckets_[t.cost_class].size() == 1) active_.insert(t.cost_class);
  }
  TaskId pick(WorkerId worker) override {
    if (count_ == 0) return kNoTask;
    const KindId k = problem_->platform.workers[worker].kind;
    if (active_.size() * 4 < order_[k].size()) return pick_of_few(k);
    for (const CostClass c : order_[k])
      if (open(c, k)) return take(c);
    return kNoTask;
  }
  void done(TaskId, WorkerId) override {}

 private:
  /// How much longer the best other kind takes.
  double relative_advantage(CostClass c, KindId k) {
    const CostTable& costs = problem_->costs;
    double other = std::numeric_limits<double>::infinity();
    KindId fastest = k;
    for (KindId o = 0; o < workers_.size(); ++o) {
      if (o == k || workers_[o] == 0 || !costs.can_run(c, o)) continue;
      if (costs.seconds(c, o) < other) {
        other = costs.seconds(c, o);
        fastest = o;
      }
    }
    const double own = costs.seconds(c, k);
    if (other < own && own > 0) {
      const double slower = other > 0 ? own / other : 1e9;
      reserve_[k * buckets_.size() + c] = slower * workers_[fastest];
    }
    return own > 0 ? other / own : std::numeric_limits<double>::infinity();
  }
  bool open(CostClass c, KindId k) const {
    const auto n = static_cast<double>(buckets_[c].size());
    return n > 0 && n >= reserve_[k * buckets_.size() + c];
  }
  /// When few buckets hold tasks, looks at those instead of at all classes.
  TaskId pick_of_few(KindId k) {
    CostClass best = 0;
    double best_advantage = -1;
    for (const CostClass c : active_) {
      if (!problem_->costs.can_run(c, k) || !open(c, k)) continue;
      const double advantage = relative_advantage(c, k);
      if (advantage > best_advantage) {
        best = c;
        best_advantage = advantage;
      }
    }
    return best_advantage < 0 ? kNoTask : take(best);
  }
  TaskId take(CostClass c) {
    const TaskId task = buckets_[c].begin()->second;
    buckets_[c].erase(buckets_[c].begin());
    if (buckets_[c].empty()) active_.erase(c);
    --count_;
    return task;
  }

  const SchedulingProblem* problem_ = nullptr;
  std::vector<std::set<std::pair<std::int32_t, TaskId>>> buckets_;  ///< by class
  std::set<CostClass> active_;                                      ///< buckets that hold a task
  std::vector<std::vector<CostClass>> order_;                       ///< by kind
  std::vector<double> reserve_;  ///< kinds x classes: tasks left for the faster kind
  std::vector<double> workers_;  ///< by kind
  std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<OnlinePolicy> make_heteroprio() {
  return std::make_unique<HeteroPrio>();
}

}  // namespace espalier
