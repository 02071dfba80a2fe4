#include <queue>

#include "schedulers/greedy/greedy.hpp"
#include "schedulers/greedy/ready_entry.hpp"

namespace espalier {
namespace {

/// Local work stealing: a task stays with the worker that made it ready; idle workers steal from the nearest.
class LocalWorkStealing final : public OnlinePolicy {
 public:
  void begin(const SchedulingProblem& problem, RuntimeView&) override {
    problem_ = &problem;
    const auto& workers = problem.platform.workers;
    queues_.assign(workers.size(), {});
    last_ = kNoWorker;
    next_ = 0;
    sequence_ = 0;
    victims_.assign(workers.size(), {});
    for (WorkerId w = 0; w < workers.size(); ++w)  // same memory first, then round the ring
      for (const bool same : {true, false})
        for (std::size_t step = 1; step < workers.size(); ++step) {
          const auto v = static_cast<WorkerId>((w + step) % workers.size());
          if ((workers[v].memory == workers[w].memory) == same) victims_[w].push_back(v);
        }
  }
  void ready(TaskId task) override {
    WorkerId w = last_;
    for (std::size_t i = 0; w == kNoWorker || !runs(task, w); ++i) {
      w = static_cast<WorkerId>(next_);
      next_ = (next_ + 1) % queues_.size();
    }
    queues_[w].push({problem_->graph.task(task).priority, sequence_++, task});
  }
  TaskId pick(WorkerId worker) override {
    if (const TaskId own = take(worker, worker); own != kNoTask) return own;
    for (const WorkerId v : victims_[worker])
      if (const TaskId stolen = take(v, worker); stolen != kNoTask) return stolen;
    return kNoTask;
  }
  void done(TaskId, WorkerId worker) override { last_ = worker; }

 private:
  bool runs(TaskId task, WorkerId w) const {
    return problem_->costs.can_run(problem_->graph.task(task).cost_class, problem_->platform.workers[w].kind);
  }
  /// The first task of a queue if `thief` can run it.
  TaskId take(WorkerId from, WorkerId thief) {
    if (queues_[from].empty()) return kNoTask;
    const TaskId task = queues_[from].top().task;
    if (!runs(task, thief)) return kNoTask;
    queues_[from].pop();
    return task;
  }

  const SchedulingProblem* problem_ = nullptr;
  std::vector<std::priority_queue<ReadyEntry>> queues_;
  std::vector<std::vector<WorkerId>> victims_;
  WorkerId last_ = kNoWorker;
  std::size_t next_ = 0;
  std::uint32_t sequence_ = 0;
};

}  // namespace

std::unique_ptr<OnlinePolicy> make_lws() {
  return std::make_unique<LocalWorkStealing>();
}

}  // namespace espalier
