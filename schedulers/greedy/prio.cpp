#include <queue>

#include "schedulers/greedy/greedy.hpp"
#include "schedulers/greedy/ready_entry.hpp"

namespace espalier {
namespace {

/// One queue for all workers, the greatest priority first, then first come, first served; a worker passes
/// over what it cannot run.
class Prio final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView&) override {
    problem_ = &problem;
    queue_ = {};
    sequence_ = 0;
  }
  void ready(TaskId task) override { queue_.push({problem_->graph.task(task).priority, sequence_++, task}); }
  TaskId pick(WorkerId worker) override {
    const KindId kind = problem_->platform.workers[worker].kind;
    TaskId found = kNoTask;
    while (!queue_.empty() && found == kNoTask) {
      const ReadyEntry entry = queue_.top();
      queue_.pop();
      if (problem_->costs.can_run(problem_->graph.task(entry.task).cost_class, kind))
        found = entry.task;
      else
        passed_over_.push_back(entry);
    }
    for (const ReadyEntry& entry : passed_over_) queue_.push(entry);
    passed_over_.clear();
    return found;
  }
  void done(TaskId, WorkerId) override {}

 private:
  const SchedulingProblem* problem_ = nullptr;
  std::priority_queue<ReadyEntry> queue_;
  std::vector<ReadyEntry> passed_over_;
  std::uint32_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<OnlinePolicy> make_prio() {
  return std::make_unique<Prio>();
}

}  // namespace espalier
