#include "schedulers/hybrid/plan_hints.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include "schedulers/hybrid/hybrid.hpp"

namespace espalier {
namespace {

class PlanHints final : public OnlinePolicy {
 public:
  PlanHints(Plan plan, bool allocation, bool order)
      : plan_(std::move(plan)), allocation_(allocation), order_(order) {}

  void begin(const SchedulingProblem& problem, RuntimeView&) override {
    problem_ = &problem;
    queues_.assign(allocation_ ? problem.platform.workers.size() : 1, {});
    arrivals_ = 0;
    std::vector<TaskId> by_start(plan_.placements.size());
    std::iota(by_start.begin(), by_start.end(), TaskId{0});
    std::stable_sort(by_start.begin(), by_start.end(), [&](TaskId a, TaskId b) {
      return plan_.placements[a].start < plan_.placements[b].start;
    });
    rank_.resize(by_start.size());
    for (std::uint32_t i = 0; i < by_start.size(); ++i) rank_[by_start[i]] = i;
  }

  void ready(TaskId task) override {
    queues_[allocation_ ? plan_.placements[task].worker : 0].insert(
        {order_ ? rank_[task] : arrivals_++, task});
  }

  TaskId pick(WorkerId worker) override {
    const KindId kind = problem_->platform.workers[worker].kind;
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      auto& queue = queues_[(worker + i) % queues_.size()];
      for (auto it = queue.begin(); it != queue.end(); ++it) {
        if (!problem_->costs.can_run(problem_->graph.task(it->second).cost_class, kind)) continue;
        const TaskId task = it->second;
        queue.erase(it);
        return task;
      }
    }
    return kNoTask;
  }

  void done(TaskId, WorkerId) override {}

 private:
  Plan plan_;
  bool allocation_, order_;
  const SchedulingProblem* problem_ = nullptr;
  std::vector<std::set<std::pair<std::uint32_t, TaskId>>> queues_;
  std::vector<std::uint32_t> rank_;
  std::uint32_t arrivals_ = 0;
};

}  // namespace

bool has_unlike_workers(const Platform& platform) {
  return std::any_of(platform.workers.begin(), platform.workers.end(), [&](const Worker& w) {
    return w.kind != platform.workers[0].kind || w.memory != platform.workers[0].memory;
  });
}

std::unique_ptr<OnlinePolicy> make_plan_hints(Plan plan, bool allocation, bool order,
                                              const Platform& platform) {
  if (has_unlike_workers(platform)) return make_hybrid(std::move(plan), allocation, order);
  return std::make_unique<PlanHints>(std::move(plan), allocation, order);
}

}  // namespace espalier
