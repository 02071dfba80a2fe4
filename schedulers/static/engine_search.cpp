#include "schedulers/static/engine_search.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "graphs/base/error.hpp"
#include "schedulers/common/deadline.hpp"
#include "schedulers/common/instance.hpp"

namespace espalier {
namespace {

constexpr double kHeat = 0.01;  ///< first temperature, share of the makespan

class EngineSearch {
 public:
  EngineSearch(const SchedulingProblem& problem, Judge& judge)
      : problem_(problem), instance_(problem), judge_(judge), random_(problem.seed) {}

  void run(double bound, std::int64_t steps, double seconds_limit) {
    const Deadline stop(seconds_limit);
    if (!judge_.has_plan() || !adopt(judge_.best(), Instance::infinity())) return;
    for (std::int64_t step = 0; step < steps && judge_.makespan() > bound && !stop.passed(); ++step) {
      const double left = std::min(1 - static_cast<double>(step) / static_cast<double>(steps),
                                   stop.left() / std::max(seconds_limit, 1e-9));
      const double heat = kHeat * judge_.makespan() * left * left;
      Plan candidate;
      if (!change(candidate)) continue;
      adopt(candidate, value_ - heat * std::log(1 - uniform()));
    }
  }

 private:
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(random_() % n); }

  /// Simulates; when not above the limit its run, as a plan, is the new state.
  bool adopt(const Plan& plan, double limit) {
    try {
      const Trace trace = simulate(problem_, plan);
      if (trace.makespan > limit) return false;
      value_ = trace.makespan;
      state_ = plan_of_trace(problem_, trace, "local_search");
      late_.clear();
      for (const TaskEvent& e : trace.tasks)
        if (e.start - e.ready > 0.5 * (e.end - e.start)) late_.push_back(e.task);
      sort_state();
      if (value_ < judge_.makespan()) judge_.consider(state_);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  void sort_state() {
    order_.resize(state_.placements.size());
    std::iota(order_.begin(), order_.end(), TaskId{0});
    std::sort(order_.begin(), order_.end(), [&](TaskId a, TaskId b) {
      const Placement &p = state_.placements[a], &q = state_.placements[b];
      if (p.start != q.start) return p.start < q.start;
      return p.finish != q.finish ? p.finish < q.finish : a < b;
    });
    position_.resize(order_.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) position_[order_[i]] = i;
  }

  WorkerId other_worker(TaskId t) {
    const auto inputs = instance_.inputs(t), outputs = instance_.outputs(t);
    const std::size_t neighbours = inputs.size() + outputs.size();
    WorkerId w = static_cast<WorkerId>(below(instance_.workers()));
    if (neighbours > 0 && random_() % 2 == 0) {
      const std::size_t i = below(neighbours);
      const TaskId u = i < inputs.size() ? inputs[i].task : outputs[i - inputs.size()].task;
      w = state_.placements[u].worker;
    }
    return instance_.seconds(t, w) == Instance::infinity() ? state_.placements[t].worker : w;
  }

  /// One task elsewhere; false when that changes nothing.
  bool change(Plan& candidate) {
    const bool pick_late = !late_.empty() && random_() % 2 == 0;
    const TaskId t = pick_late ? late_[below(late_.size())] : static_cast<TaskId>(below(order_.size()));
    std::size_t low = 0, high = order_.size() - 1;
    for (const auto& e : instance_.inputs(t)) low = std::max<std::size_t>(low, position_[e.task] + 1);
    for (const auto& e : instance_.outputs(t)) high = std::min<std::size_t>(high, position_[e.task] - 1);
    if (low > high) return false;
    const WorkerId w = random_() % 3 == 0 ? state_.placements[t].worker : other_worker(t);
    std::size_t to = position_[t];
    if (random_() % 2 == 0 || w == state_.placements[t].worker) to = low + below(high - low + 1);
    if (to == position_[t] && w == state_.placements[t].worker) return false;
    candidate = state_;
    candidate.placements[t].worker = w;
    candidate.placements[t].start = state_.placements[order_[to]].start;
    std::vector<TaskId> order = order_;
    order.erase(order.begin() + position_[t]);
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(to), t);
    std::vector<std::uint32_t> next(instance_.workers(), 0);
    for (const TaskId u : order) candidate.placements[u].position = next[candidate.placements[u].worker]++;
    return true;
  }

  const SchedulingProblem& problem_;
  const Instance instance_;
  Judge& judge_;
  std::mt19937_64 random_;
  Plan state_;
  double value_ = 0;
  std::vector<TaskId> order_, late_;
  std::vector<std::uint32_t> position_;
};

}  // namespace

void search_on_engine(const SchedulingProblem& problem, Judge& judge, double bound, std::int64_t steps,
                      double seconds_limit) {
  if (problem.graph.task_count() > 0) EngineSearch(problem, judge).run(bound, steps, seconds_limit);
}

}  // namespace espalier
