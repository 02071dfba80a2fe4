#include "runtime/model/simulate.hpp"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "graphs/base/error.hpp"
#include "runtime/model/engine.hpp"

namespace espalier {
namespace {

using Clock = std::chrono::steady_clock;

/// A plan's tasks, worker by worker in its order.
class PlanSource final : public model::TaskSource {
 public:
  PlanSource(const SchedulingProblem& problem, const Plan& plan) : problem_(problem), plan_(plan) {
    order_ = plan.by_worker(problem.platform.workers.size());
    next_.assign(order_.size(), 0);
    state_.assign(plan.placements.size(), State::waiting);
  }
  void begin(RuntimeView&) override {}
  void ready(TaskId task) override { state_[task] = State::ready; }
  TaskId next(WorkerId w) override {
    if (next_[w] == order_[w].size()) return kNoTask;
    const TaskId task = order_[w][next_[w]];
    if (state_[task] != State::ready) return kNoTask;
    ++next_[w];
    return task;
  }
  void done(TaskId task, WorkerId) override { state_[task] = State::done; }
  WorkerId planned_worker(TaskId task) const override { return plan_.placements[task].worker; }
  double planned_start(TaskId task) const override { return plan_.placements[task].start; }

  std::span<const PlannedTransfer> transfers() const override { return plan_.transfers; }

  double next_use(DataId d, MemoryId m) const override {
    if (user_begin_.empty()) index_users();
    std::uint32_t& first = user_first_[d];
    while (first < user_begin_[d + 1] && state_[users_[first]] == State::done) ++first;
    for (std::uint32_t i = first; i < user_begin_[d + 1]; ++i)
      if (state_[users_[i]] != State::done &&
          problem_.platform.workers[planned_worker(users_[i])].memory == m)
        return planned_start(users_[i]);
    return std::numeric_limits<double>::infinity();
  }

  [[noreturn]] void fail_stuck(std::size_t left) const override {
    for (std::size_t w = 0; w < order_.size(); ++w) {
      if (next_[w] == order_[w].size()) continue;
      const TaskId task = order_[w][next_[w]];
      for (const TaskId p : problem_.graph.predecessors(task))
        if (state_[p] != State::done)
          throw InputError(
              fmt::format("the plan cannot be carried out: {} tasks are left and none can start; on worker "
                          "{} it is the turn "
                          "of task {}, which waits for task {} (position {} on worker {})",
                          left, problem_.platform.workers[w].name, problem_.graph.task_name(task),
                          problem_.graph.task_name(p), plan_.placements[p].position,
                          problem_.platform.workers[plan_.placements[p].worker].name));
    }
    throw InternalError("the model engine stopped with tasks left");
  }

 private:
  enum class State : std::uint8_t { waiting, ready, done };

  void index_users() const {
    const TaskGraph& graph = problem_.graph;
    std::vector<TaskId> by_start(graph.task_count());
    std::iota(by_start.begin(), by_start.end(), TaskId{0});
    std::stable_sort(by_start.begin(), by_start.end(),
                     [&](TaskId a, TaskId b) { return planned_start(a) < planned_start(b); });
    user_begin_.assign(graph.data_count() + 1, 0);
    for (const TaskId t : by_start)
      for (const Access& a : graph.accesses(t)) ++user_begin_[a.data + 1];
    std::partial_sum(user_begin_.begin(), user_begin_.end(), user_begin_.begin());
    user_first_.assign(user_begin_.begin(), user_begin_.end() - 1);
    users_.resize(user_begin_.back());
    auto fill = user_first_;
    for (const TaskId t : by_start)
      for (const Access& a : graph.accesses(t)) users_[fill[a.data]++] = t;
  }

  const SchedulingProblem& problem_;
  const Plan& plan_;
  std::vector<std::vector<TaskId>> order_;
  std::vector<std::size_t> next_;
  std::vector<State> state_;
  mutable std::vector<std::uint32_t> user_begin_, user_first_;  ///< built when a memory is full
  mutable std::vector<TaskId> users_;
};

/// An online policy; its time is taken on a sample of the calls.
class PolicySource final : public model::TaskSource {
 public:
  PolicySource(const SchedulingProblem& problem, OnlinePolicy& policy) : problem_(problem), policy_(policy) {}
  void begin(RuntimeView& view) override {
    const auto start = Clock::now();
    policy_.begin(problem_, view);
    seconds_ += std::chrono::duration<double>(Clock::now() - start).count();
  }
  void ready(TaskId task) override {
    timed([&] { policy_.ready(task); });
  }
  TaskId next(WorkerId worker) override {
    TaskId task = kNoTask;
    timed([&] { task = policy_.pick(worker); });
    return task;
  }
  void done(TaskId task, WorkerId worker) override {
    timed([&] { policy_.done(task, worker); });
  }
  double seconds() const { return seconds_; }
  [[noreturn]] void fail_stuck(std::size_t left) const override {
    throw InternalError(fmt::format("the policy keeps back ready tasks for ever: {} tasks are left", left));
  }

 private:
  static constexpr unsigned kSample = 16;
  template <class F>
  void timed(F&& f) {
    if (++calls_ % kSample != 0) return f();
    const auto start = Clock::now();
    f();
    seconds_ += kSample * std::chrono::duration<double>(Clock::now() - start).count();
  }
  const SchedulingProblem& problem_;
  OnlinePolicy& policy_;
  unsigned calls_ = 0;
  double seconds_ = 0;
};

/// Planned transfers name data, tasks that write them, and memories that exist.
void require_transfers(const SchedulingProblem& problem, const Plan& plan) {
  const TaskGraph& graph = problem.graph;
  for (std::size_t i = 0; i < plan.transfers.size(); ++i) {
    const PlannedTransfer& x = plan.transfers[i];
    if (x.data >= graph.data_count())
      throw InputError(fmt::format("transfer {} of the plan moves datum {}, graph {} has {} data", i, x.data,
                                   graph.name, graph.data_count()));
    if (std::max(x.from, x.to) >= problem.platform.memories.size() || x.from == x.to)
      throw InputError(
          fmt::format("transfer {} of the plan goes from memory {} to {}: two of the {} memories of platform "
                      "{} are needed",
                      i, x.from, x.to, problem.platform.memories.size(), problem.platform.name));
    if (!(x.start >= 0) || x.start == std::numeric_limits<double>::infinity())
      throw InputError(
          fmt::format("transfer {} of the plan starts at {}: a time >= 0 is needed", i, x.start));
    if (x.after == kNoTask) continue;
    const bool known = x.after < graph.task_count();
    const auto accesses = known ? graph.accesses(x.after) : std::span<const Access>{};
    if (std::none_of(accesses.begin(), accesses.end(),
                     [&](const Access& a) { return a.data == x.data && writes(a.mode); }))
      throw InputError(
          fmt::format("transfer {} of the plan moves datum {} after task {}, which does not write it", i,
                      x.data, x.after));
  }
}

/// The plan fits the graph and the platform; InputError says in which part it does not.
void require_fit(const SchedulingProblem& problem, const Plan& plan) {
  const TaskGraph& graph = problem.graph;
  const Platform& platform = problem.platform;
  if (plan.placements.size() != graph.task_count())
    throw InputError(fmt::format("the plan is for another graph: it places {} tasks, graph {} has {}",
                                 plan.placements.size(), graph.name, graph.task_count()));
  if (plan.graph_fingerprint != 0 && plan.graph_fingerprint != graph.fingerprint())
    throw InputError(fmt::format(
        "the plan is for another graph: it has as many tasks as {}, but other costs, data or dependencies",
        graph.name));
  if (plan.platform_fingerprint != 0 && plan.platform_fingerprint != platform.fingerprint())
    throw InputError(fmt::format("the plan is for another platform: {} has other workers, memories or links",
                                 platform.name));
  std::vector<std::vector<char>> taken(platform.workers.size());
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    const Placement& p = plan.placements[t];
    if (p.worker >= platform.workers.size())
      throw InputError(fmt::format("the plan puts task {} on worker {}, platform {} has {} workers",
                                   graph.task_name(t), p.worker, platform.name, platform.workers.size()));
    if (!problem.costs.can_run(graph.task(t).cost_class, platform.workers[p.worker].kind))
      throw InputError(fmt::format("the plan puts task {} on worker {}, which cannot run {}",
                                   graph.task_name(t), platform.workers[p.worker].name,
                                   graph.class_of(t).codelet));
    auto& slots = taken[p.worker];
    if (p.position >= graph.task_count())
      throw InputError(fmt::format("the plan gives task {} position {} of {} tasks", graph.task_name(t),
                                   p.position, graph.task_count()));
    if (slots.size() <= p.position) slots.resize(p.position + 1, 0);
    if (slots[p.position]++ != 0)
      throw InputError(fmt::format("the plan gives position {} on worker {} to two tasks, one is {}",
                                   p.position, platform.workers[p.worker].name, graph.task_name(t)));
  }
  for (std::size_t w = 0; w < taken.size(); ++w)
    if (const auto gap = std::find(taken[w].begin(), taken[w].end(), 0); gap != taken[w].end())
      throw InputError(fmt::format("the plan leaves position {} on worker {} empty", gap - taken[w].begin(),
                                   platform.workers[w].name));
}

}  // namespace

Trace simulate(const SchedulingProblem& problem, const Plan& plan, const SimulationOptions& options) {
  problem.platform.validate();
  require_fit(problem, plan);
  require_transfers(problem, plan);
  PlanSource source(problem, plan);
  Trace trace = model::Engine(problem, options, source).run();
  trace.scheduler = plan.scheduler;
  return trace;
}

Trace simulate(const SchedulingProblem& problem, OnlinePolicy& policy, const SimulationOptions& options) {
  problem.platform.validate();
  problem.costs.require_runnable(problem.graph, problem.platform);
  PolicySource source(problem, policy);
  Trace trace = model::Engine(problem, options, source).run();
  trace.scheduler_seconds = source.seconds();
  return trace;
}

}  // namespace espalier
