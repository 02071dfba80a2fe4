#include "schedulers/common/partial_schedule.hpp"

#include <algorithm>
#include <numeric>

namespace espalier {

PartialSchedule::PartialSchedule(const Instance& instance)
    : instance_(&instance), slots_(instance.tasks()), arrivals_(instance.memories(), 0) {
  std::vector<double> shortest(instance.workers(), Instance::infinity());
  for (WorkerId w = 0; w < instance.workers(); ++w)
    for (TaskId t = 0; t < instance.tasks(); ++t)
      shortest[w] = std::min(shortest[w], instance.seconds_of_kind(t, instance.kind_of(w)));
  for (const double s : shortest) timelines_.emplace_back(s == Instance::infinity() ? 0 : s);
}

const std::vector<double>& PartialSchedule::arrivals(TaskId t) {
  return arrivals_of_placed(t);
}

const std::vector<double>& PartialSchedule::arrivals_of_placed(TaskId t) {
  const auto memories = static_cast<MemoryId>(instance_->memories());
  std::fill(arrivals_.begin(), arrivals_.end(), 0.0);
  for (const auto& [bytes, home] : instance_->home_reads(t))
    for (MemoryId m = 0; m < memories; ++m)
      arrivals_[m] = std::max(arrivals_[m], instance_->transfer(bytes, home, m));
  for (const auto& [u, bytes] : instance_->inputs(t)) {
    const Slot& from = slots_[u];
    if (from.worker == kNoWorker) continue;
    const MemoryId source = instance_->memory_of(from.worker);
    for (MemoryId m = 0; m < memories; ++m)
      arrivals_[m] = std::max(arrivals_[m], from.finish + instance_->transfer(bytes, source, m));
  }
  return arrivals_;
}

PartialSchedule::Slot PartialSchedule::earliest(TaskId t, WorkerId w) const {
  const double duration = instance_->seconds(t, w);
  if (duration == Instance::infinity()) return {w, Instance::infinity(), Instance::infinity()};
  const double start = timelines_[w].earliest(arrivals_[instance_->memory_of(w)], duration);
  return {w, start, start + duration};
}

PartialSchedule::Slot PartialSchedule::earliest_after(TaskId t, WorkerId w, double ready) const {
  const double duration = instance_->seconds(t, w);
  if (duration == Instance::infinity()) return {w, Instance::infinity(), Instance::infinity()};
  const double start = timelines_[w].earliest(std::max(ready, arrivals_[instance_->memory_of(w)]), duration);
  return {w, start, start + duration};
}

PartialSchedule::Slot PartialSchedule::earliest_finish(TaskId t) {
  arrivals(t);
  Slot best;
  for (WorkerId w = 0; w < instance_->workers(); ++w) {
    const double least = arrivals_[instance_->memory_of(w)] + instance_->seconds(t, w);
    if (least >= best.finish) continue;
    const Slot slot = earliest(t, w);
    if (slot.finish < best.finish) best = slot;
  }
  return best;
}

void PartialSchedule::place(TaskId t, const Slot& slot) {
  slots_[t] = slot;
  timelines_[slot.worker].occupy(slot.start, slot.finish);
}

Plan PartialSchedule::plan(std::string_view scheduler) const {
  return make_plan(*instance_, slots_, scheduler);
}

Plan make_plan(const Instance& instance, const std::vector<PartialSchedule::Slot>& slots,
               std::string_view scheduler) {
  const SchedulingProblem& problem = instance.problem();
  Plan plan;
  plan.scheduler = scheduler;
  plan.seed = problem.seed;
  plan.graph_fingerprint = problem.graph.fingerprint();
  plan.platform_fingerprint = problem.platform.fingerprint();
  plan.placements.resize(slots.size());
  std::vector<TaskId> order(slots.size());
  std::iota(order.begin(), order.end(), TaskId{0});
  std::sort(order.begin(), order.end(), [&](TaskId a, TaskId b) {
    if (slots[a].start != slots[b].start) return slots[a].start < slots[b].start;
    if (slots[a].finish != slots[b].finish) return slots[a].finish < slots[b].finish;
    return a < b;
  });
  std::vector<std::uint32_t> next(instance.workers(), 0);
  for (const TaskId t : order)
    plan.placements[t] = {slots[t].worker, next[slots[t].worker]++, slots[t].start, slots[t].finish};
  plan.makespan = latest_finish(plan);
  return plan;
}

}  // namespace espalier
