#include <deque>
#include <random>

#include "schedulers/greedy/greedy.hpp"

namespace espalier {
namespace {

/// Each ready task goes to a worker drawn with a probability proportional to its speed.
class Random final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView&) override {
    problem_ = &problem;
    random_.seed(problem.seed);
    queues_.assign(problem.platform.workers.size(), {});
    measure_speeds();
  }
  void ready(TaskId task) override {
    const CostClass c = problem_->graph.task(task).cost_class;
    const auto& workers = problem_->platform.workers;
    double sum = 0;
    for (const Worker& w : workers)
      if (problem_->costs.can_run(c, w.kind)) sum += speed_[w.kind];
    double at = static_cast<double>(random_() >> 11) * 0x1p-53 * sum;
    WorkerId chosen = kNoWorker;
    for (WorkerId w = 0; w < workers.size(); ++w) {
      if (!problem_->costs.can_run(c, workers[w].kind)) continue;
      chosen = w;
      at -= speed_[workers[w].kind];
      if (at < 0) break;
    }
    queues_[chosen].push_back(task);
  }
  TaskId pick(WorkerId worker) override {
    auto& queue = queues_[worker];
    if (queue.empty()) return kNoTask;
    const TaskId task = queue.front();
    queue.pop_front();
    return task;
  }
  void done(TaskId, WorkerId) override {}

 private:
  /// Speed of a kind: time of the fastest kind over its own, both summed over the tasks that it can run.
  void measure_speeds() {
    const TaskGraph& graph = problem_->graph;
    const CostTable& costs = problem_->costs;
    std::vector<double> count(graph.classes.size(), 0);
    for (TaskId t = 0; t < graph.task_count(); ++t) ++count[graph.task(t).cost_class];
    speed_.assign(costs.kinds(), 1);
    for (KindId k = 0; k < costs.kinds(); ++k) {
      double own = 0, best = 0;
      for (CostClass c = 0; c < count.size(); ++c) {
        if (!costs.can_run(c, k)) continue;
        double least = costs.seconds(c, k);
        for (KindId other = 0; other < costs.kinds(); ++other)
          if (costs.can_run(c, other)) least = std::min(least, costs.seconds(c, other));
        own += count[c] * costs.seconds(c, k);
        best += count[c] * least;
      }
      if (own > 0 && best > 0) speed_[k] = best / own;
    }
  }

  const SchedulingProblem* problem_ = nullptr;
  std::mt19937_64 random_;
  std::vector<std::deque<TaskId>> queues_;
  std::vector<double> speed_;
};

}  // namespace

std::unique_ptr<OnlinePolicy> make_random() {
  return std::make_unique<Random>();
}

}  // namespace espalier
