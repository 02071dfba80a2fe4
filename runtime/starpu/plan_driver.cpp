#include "runtime/starpu/plan_driver.hpp"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>
#include <mutex>
#include <numeric>
#include <queue>

#include "graphs/base/error.hpp"
#include "runtime/starpu/starpu_detail.hpp"
#include "runtime/starpu/taking_turns.hpp"

namespace espalier::starpu {
namespace {

using Order = std::vector<std::vector<TaskId>>;

void require_placements(const TaskGraph& graph, const Plan& plan, unsigned workers) {
  if (plan.placements.size() != graph.task_count())
    throw InputError(fmt::format("the plan is for another graph: it places {} tasks, graph {} has {}",
                                 plan.placements.size(), graph.name, graph.task_count()));
  std::vector<std::vector<bool>> taken(workers);
  for (TaskId t = 0; t < plan.placements.size(); ++t) {
    const Placement& p = plan.placements[t];
    if (p.worker >= workers)
      throw InputError(fmt::format("the plan puts task {} on worker {}; {} workers run here",
                                   graph.task_name(t), p.worker, workers));
    auto& slots = taken[p.worker];
    if (p.position >= plan.placements.size())
      throw InputError(fmt::format("the plan gives task {} position {} of {}", graph.task_name(t), p.position,
                                   plan.placements.size()));
    if (slots.size() <= p.position) slots.resize(p.position + 1, false);
    if (slots[p.position])
      throw InputError(fmt::format("the plan gives position {} on worker {} to two tasks, one is {}",
                                   p.position, p.worker, graph.task_name(t)));
    slots[p.position] = true;
  }
  for (std::size_t w = 0; w < workers; ++w)
    if (const auto gap = std::find(taken[w].begin(), taken[w].end(), false); gap != taken[w].end())
      throw InputError(
          fmt::format("the plan leaves position {} on worker {} empty", gap - taken[w].begin(), w));
}

/// A strict order that contradicts the graph would wait for ever.
void require_possible(const TaskGraph& graph, const Order& order) {
  std::vector<std::uint32_t> missing(graph.task_count());
  for (TaskId t = 0; t < missing.size(); ++t)
    missing[t] = static_cast<std::uint32_t>(graph.predecessors(t).size());
  std::vector<std::size_t> next(order.size(), 0);
  std::size_t left = graph.task_count();
  for (bool moved = true; moved && left > 0;) {
    moved = false;
    for (std::size_t w = 0; w < order.size(); ++w)
      while (next[w] < order[w].size() && missing[order[w][next[w]]] == 0) {
        for (const TaskId s : graph.successors(order[w][next[w]])) --missing[s];
        ++next[w];
        --left;
        moved = true;
      }
  }
  if (left == 0) return;
  for (std::size_t w = 0; w < order.size(); ++w)
    if (next[w] < order[w].size())
      throw InputError(
          fmt::format("the plan cannot be carried out: it is the turn of task {} on worker {}, which waits "
                      "for tasks that "
                      "come later in the plan; {} tasks are left",
                      graph.task_name(order[w][next[w]]), w, left));
}

class StrictDriver final : public TaskDriver {
 public:
  StrictDriver(const void* program, const TaskGraph& graph, Plan plan, unsigned workers)
      : TaskDriver(program), plan_(std::move(plan)), slots_(graph.task_count()), lanes_(workers) {
    Order order = plan_.by_worker(workers);
    require_possible(graph, order);
    for (unsigned w = 0; w < workers; ++w) lanes_[w].order = std::move(order[w]);
  }

  void begin() override {
    released_ = false;
    for (Lane& lane : lanes_) lane.next = 0;
    for (auto& slot : slots_) slot.store(nullptr, std::memory_order_relaxed);
  }

  WorkerId planned_worker(TaskId id) const override { return plan_.placements[id].worker; }

  WorkerId push(starpu_task* task, TaskId id) override {
    starpu_push_task_end(task);
    slots_[id].store(task);
    return plan_.placements[id].worker;
  }

  starpu_task* pop(unsigned worker) override {
    if (worker >= lanes_.size()) return nullptr;
    Lane& lane = lanes_[worker];
    if (lane.next < lane.order.size()) {
      starpu_task* task = slots_[lane.order[lane.next]].exchange(nullptr);
      if (task != nullptr) {
        ++lane.next;
        return task;
      }
    }
    return released_.load() ? pop_any(lane) : nullptr;
  }

  void done(TaskId, unsigned) override {}
  void release() override { released_ = true; }
  std::string name() const override { return plan_.scheduler; }

 private:
  struct alignas(128) Lane {
    std::vector<TaskId> order;
    std::size_t next = 0;  ///< touched by its worker only
  };

  /// Own tasks in order, passing over those that never came.
  starpu_task* pop_any(Lane& lane) {
    for (std::size_t i = lane.next; i < lane.order.size(); ++i)
      if (starpu_task* task = slots_[lane.order[i]].exchange(nullptr); task != nullptr) return task;
    return nullptr;
  }

  Plan plan_;
  std::vector<std::atomic<starpu_task*>> slots_;  ///< by task
  std::vector<Lane> lanes_;
  std::atomic<bool> released_{false};
};

class HybridDriver final : public TaskDriver {
 public:
  HybridDriver(const void* program, Plan plan, PlanMode mode, unsigned workers)
      : TaskDriver(program),
        plan_(std::move(plan)),
        allocation_(mode != PlanMode::order),
        order_(mode != PlanMode::allocation),
        rank_(plan_.placements.size()),
        queues_(allocation_ ? workers : 1) {
    std::vector<TaskId> by_start(rank_.size());
    std::iota(by_start.begin(), by_start.end(), TaskId{0});
    std::stable_sort(by_start.begin(), by_start.end(), [&](TaskId a, TaskId b) {
      return plan_.placements[a].start < plan_.placements[b].start;
    });
    for (std::uint32_t i = 0; i < by_start.size(); ++i) rank_[by_start[i]] = i;
  }

  void begin() override {}

  WorkerId planned_worker(TaskId id) const override {
    return allocation_ ? plan_.placements[id].worker : kNoWorker;
  }

  WorkerId push(starpu_task* task, TaskId id) override {
    Queue& queue = queues_[allocation_ ? plan_.placements[id].worker : 0];
    const std::uint64_t key = order_ ? rank_[id] : arrivals_.fetch_add(1, std::memory_order_relaxed);
    const std::lock_guard lock(queue.mutex);
    starpu_push_task_end(task);
    queue.tasks.push({key, task});
    queue.size.store(queue.tasks.size());
    return kNoWorker;
  }

  starpu_task* pop(unsigned worker) override {
    const std::size_t own = worker < queues_.size() ? worker : 0;
    for (std::size_t i = 0; i < queues_.size(); ++i) {
      Queue& queue = queues_[(own + i) % queues_.size()];
      if (queue.size.load() == 0) continue;
      const std::lock_guard lock(queue.mutex);
      if (queue.tasks.empty()) continue;
      starpu_task* task = queue.tasks.top().task;
      if (starpu_worker_can_execute_task_impl(worker, task, nullptr) == 0) continue;
      queue.tasks.pop();
      queue.size.store(queue.tasks.size());
      return task;
    }
    return nullptr;
  }

  void done(TaskId, unsigned) override {}
  void release() override {}
  std::string name() const override { return plan_.scheduler; }

 private:
  struct Entry {
    std::uint64_t key;
    starpu_task* task;
    bool operator<(const Entry& other) const { return key > other.key; }
  };
  struct alignas(128) Queue {
    Mutex mutex;
    std::priority_queue<Entry> tasks;  ///< the least key on top
    std::atomic<std::size_t> size{0};
  };
  Plan plan_;
  bool allocation_, order_;
  std::vector<std::uint32_t> rank_;  ///< by task: its place in the order of starts
  std::vector<Queue> queues_;
  std::atomic<std::uint64_t> arrivals_{0};
};

}  // namespace

std::unique_ptr<TaskDriver> make_plan_driver(const void* program, const TaskGraph& graph, Plan plan,
                                             PlanMode mode, unsigned workers) {
  require_placements(graph, plan, workers);
  if (mode == PlanMode::strict)
    return std::make_unique<StrictDriver>(program, graph, std::move(plan), workers);
  return std::make_unique<HybridDriver>(program, std::move(plan), mode, workers);
}

}  // namespace espalier::starpu
