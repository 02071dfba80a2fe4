#include "schedulers/greedy/deque_model.hpp"

#include <limits>

#include "schedulers/greedy/greedy.hpp"

namespace espalier {
namespace {

constexpr int kLookAhead = 32;  ///< queued tasks of one priority compared for missing inputs

}  // namespace

void DequeModel::begin(const SchedulingProblem& problem, RuntimeView& view) {
  problem_ = &problem;
  view_ = &view;
  fetch_ = FetchTimes(problem);
  queues_.assign(problem.platform.workers.size(), {});
  queued_.assign(problem.platform.workers.size(), 0);
  fetch_seconds_.assign(problem.platform.memories.size(), 0);
}

/// Seconds of the tasks that would run before one of this priority.
double DequeModel::queued_before(WorkerId w, double priority) const {
  if (!options_.sorted) return queued_[w];
  double sum = 0;
  for (auto it = queues_[w].begin(); it != queues_[w].end() && it->first >= priority; ++it)
    sum += it->second.length;
  return sum;
}

void DequeModel::ready(TaskId task) {
  const auto& workers = problem_->platform.workers;
  const CostClass c = problem_->graph.task(task).cost_class;
  const double rank = priority(task);
  if (options_.data_aware)
    for (MemoryId m = 0; m < fetch_seconds_.size(); ++m)
      fetch_seconds_[m] = fetch_.seconds(task, m, *view_, options_.arriving);
  WorkerId best = kNoWorker;
  double best_cost = std::numeric_limits<double>::infinity(), best_free = 0;
  for (WorkerId w = 0; w < workers.size(); ++w) {
    if (!allowed(task, workers[w])) continue;
    const double free = view_->expected_free(w) + queued_before(w, rank);
    const double cost =
        free + problem_->costs.seconds(c, workers[w].kind) + fetch_seconds_[workers[w].memory];
    if (best == kNoWorker || cost < best_cost) {
      best = w;
      best_cost = cost;
      best_free = free;
    }
  }
  // the fetch goes on while earlier tasks run
  const double fetched = view_->now() + fetch_seconds_[workers[best].memory];
  const double length = problem_->costs.seconds(c, workers[best].kind) + std::max(0.0, fetched - best_free);
  queues_[best].emplace(rank, Entry{task, length});
  queued_[best] += length;
  if (options_.data_aware) view_->prefetch(task, workers[best].memory);
}

/// Among the first tasks of the highest priority, the one with the fewest missing inputs.
DequeModel::Queue::iterator DequeModel::most_ready(WorkerId w) {
  Queue& queue = queues_[w];
  auto best = queue.begin();
  const MemoryId memory = problem_->platform.workers[w].memory;
  int least = fetch_.missing(best->second.task, memory, *view_);
  auto it = std::next(best);
  for (int i = 1; i < kLookAhead && least > 0 && it != queue.end() && it->first == best->first; ++i, ++it)
    if (const int missing = fetch_.missing(it->second.task, memory, *view_); missing < least) {
      least = missing;
      best = it;
    }
  return best;
}

TaskId DequeModel::pick(WorkerId worker) {
  Queue& queue = queues_[worker];
  if (queue.empty()) return kNoTask;
  const auto chosen = options_.sorted && options_.data_aware ? most_ready(worker) : queue.begin();
  const TaskId task = chosen->second.task;
  queued_[worker] -= chosen->second.length;
  queue.erase(chosen);
  if (queue.empty()) queued_[worker] = 0;
  return task;
}

std::unique_ptr<OnlinePolicy> make_dm() {
  return std::make_unique<DequeModel>(DequeModelOptions{});
}

std::unique_ptr<OnlinePolicy> make_dmda() {
  return std::make_unique<DequeModel>(DequeModelOptions{.data_aware = true});
}

std::unique_ptr<OnlinePolicy> make_dmdas() {
  return std::make_unique<DequeModel>(DequeModelOptions{.data_aware = true, .sorted = true});
}

}  // namespace espalier
