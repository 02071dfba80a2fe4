#include "schedulers/static/exact/identical.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "schedulers/common/partial_schedule.hpp"
#include "schedulers/static/exact/time_grid.hpp"

namespace espalier {
namespace {

bool transfers_take_time(const Instance& instance) {
  if (instance.has_transfers() && instance.mean_transfer(1) > 0) return true;
  for (TaskId t = 0; t < instance.tasks(); ++t)
    for (const auto& [bytes, home] : instance.home_reads(t))
      for (WorkerId w = 0; w < instance.workers(); ++w)
        if (instance.transfer(bytes, home, instance.memory_of(w)) > 0) return true;
  return false;
}

bool workers_alike(const Instance& instance) {
  for (WorkerId w = 1; w < instance.workers(); ++w) {
    if (instance.kind_of(w) != instance.kind_of(0)) return false;
    if (instance.memory_of(w) == instance.memory_of(0)) continue;
    for (TaskId t = 0; t < instance.tasks(); ++t)
      if (instance.seconds(t, w) != instance.seconds(t, 0)) return false;
  }
  return true;
}

}  // namespace

std::optional<Identical> as_identical(const Instance& instance) {
  if (!workers_alike(instance) || transfers_take_time(instance)) return std::nullopt;
  std::vector<double> seconds(instance.tasks());
  double total = 0;
  for (TaskId t = 0; t < instance.tasks(); ++t) total += seconds[t] = instance.seconds(t, 0);
  const TimeGrid grid(seconds, total);
  Identical identical;
  identical.workers = static_cast<int>(instance.workers());
  identical.step = grid.seconds(1);
  std::vector<int> number(instance.tasks(), -1);
  std::vector<std::vector<int>> reach(instance.tasks());  // predecessors, through tasks without duration
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    std::vector<int> before;
    for (const auto& edge : instance.inputs(t)) {
      if (number[edge.task] >= 0)
        before.push_back(number[edge.task]);
      else
        before.insert(before.end(), reach[edge.task].begin(), reach[edge.task].end());
    }
    std::sort(before.begin(), before.end());
    before.erase(std::unique(before.begin(), before.end()), before.end());
    const Identical::Steps duration = grid.steps(seconds[t]);
    if (duration == 0) {
      reach[t] = std::move(before);
      continue;
    }
    number[t] = identical.size();
    for (const int b : before) identical.after[b].push_back(number[t]);
    identical.duration.push_back(duration);
    identical.before.push_back(std::move(before));
    identical.after.emplace_back();
    identical.original.push_back(t);
  }
  return identical;
}

Identical Identical::reversed() const {
  Identical other;
  other.workers = workers;
  other.step = step;
  const int n = size();
  other.duration.assign(duration.rbegin(), duration.rend());
  other.original.assign(original.rbegin(), original.rend());
  other.before.resize(n);
  other.after.resize(n);
  for (int i = 0; i < n; ++i) {
    for (const int j : after[i]) other.before[n - 1 - i].push_back(n - 1 - j);
    for (const int j : before[i]) other.after[n - 1 - i].push_back(n - 1 - j);
  }
  return other;
}

Plan to_plan(const Instance& instance, const Identical& identical, const IdenticalSchedule& schedule,
             std::string_view scheduler) {
  std::vector<int> order(identical.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return schedule.start[a] != schedule.start[b] ? schedule.start[a] < schedule.start[b] : a < b;
  });
  // each task to the worker that is free first; times again in seconds, so that no step's rounding is left
  std::vector<WorkerId> worker_of(instance.tasks(), kNoWorker);
  std::vector<Identical::Steps> free(instance.workers(), 0);
  for (const int i : order) {
    const auto first = std::min_element(free.begin(), free.end()) - free.begin();
    worker_of[identical.original[i]] = static_cast<WorkerId>(first);
    free[first] = schedule.start[i] + identical.duration[i];
  }
  std::vector<PartialSchedule::Slot> slots(instance.tasks());
  std::vector<double> end(instance.workers(), 0);
  std::vector<std::size_t> rank(instance.tasks(), 0);
  for (std::size_t r = 0; r < order.size(); ++r) rank[identical.original[order[r]]] = r + 1;
  // a task without duration comes right after the last of its predecessors, on that one's worker
  const auto place = [&](TaskId t, WorkerId w) {
    double ready = 0;
    for (const auto& edge : instance.inputs(t)) ready = std::max(ready, slots[edge.task].finish);
    const double start = worker_of[t] == kNoWorker ? ready : std::max(ready, end[w]);
    slots[t] = {w, start, start + instance.seconds(t, w)};
    end[w] = std::max(end[w], slots[t].finish);
  };
  std::vector<std::uint32_t> missing(instance.tasks());
  const auto later = [&](TaskId a, TaskId b) { return rank[a] != rank[b] ? rank[a] > rank[b] : a > b; };
  std::priority_queue<TaskId, std::vector<TaskId>, decltype(later)> ready(later);
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    missing[t] = static_cast<std::uint32_t>(instance.inputs(t).size());
    if (missing[t] == 0) ready.push(t);
  }
  while (!ready.empty()) {
    const TaskId t = ready.top();
    ready.pop();
    WorkerId w = worker_of[t];
    if (w == kNoWorker) {
      w = 0;
      double latest = -1;
      for (const auto& edge : instance.inputs(t))
        if (slots[edge.task].finish > latest) {
          latest = slots[edge.task].finish;
          w = slots[edge.task].worker;
        }
    }
    place(t, w);
    for (const auto& edge : instance.outputs(t))
      if (--missing[edge.task] == 0) ready.push(edge.task);
  }
  return make_plan(instance, slots, scheduler);
}

}  // namespace espalier
