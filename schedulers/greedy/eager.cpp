#include <deque>

#include "schedulers/greedy/greedy.hpp"

namespace espalier {
namespace {

/// One queue for all workers, first come, first served; a worker passes over what it cannot run.
class Eager final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView&) override {
    problem_ = &problem;
    queue_.clear();
  }
  void ready(TaskId task) override { queue_.push_back(task); }
  TaskId pick(WorkerId worker) override {
    const KindId kind = problem_->platform.workers[worker].kind;
    for (auto it = queue_.begin(); it != queue_.end(); ++it) {
      if (!problem_->costs.can_run(problem_->graph.task(*it).cost_class, kind)) continue;
      const TaskId task = *it;
      queue_.erase(it);
      return task;
    }
    return kNoTask;
  }
  void done(TaskId, WorkerId) override {}

 private:
  const SchedulingProblem* problem_ = nullptr;
  std::deque<TaskId> queue_;
};

}  // namespace

std::unique_ptr<OnlinePolicy> make_eager() {
  return std::make_unique<Eager>();
}

}  // namespace espalier
