#include "schedulers/common/ready_pool.hpp"

#include <algorithm>

namespace espalier {

ReadyPool::ReadyPool(const Instance& instance, Aim aim)
    : instance_(&instance),
      aim_(aim),
      slots_(instance.tasks()),
      free_(instance.workers(), 0),
      arrivals_(instance.tasks() * instance.memories(), 0),
      missing_(instance.tasks()),
      place_in_ready_(instance.tasks()) {
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    missing_[t] = static_cast<std::uint32_t>(instance.inputs(t).size());
    if (missing_[t] == 0) enter(t);
  }
}

void ReadyPool::enter(TaskId t) {
  const auto memories = static_cast<MemoryId>(instance_->memories());
  double* arrival = arrivals_.data() + t * instance_->memories();
  for (const auto& [bytes, home] : instance_->home_reads(t))
    for (MemoryId m = 0; m < memories; ++m)
      arrival[m] = std::max(arrival[m], instance_->transfer(bytes, home, m));
  for (const auto& [u, bytes] : instance_->inputs(t))
    for (MemoryId m = 0; m < memories; ++m)
      arrival[m] =
          std::max(arrival[m],
                   slots_[u].finish + instance_->transfer(bytes, instance_->memory_of(slots_[u].worker), m));
  place_in_ready_[t] = static_cast<std::uint32_t>(ready_.size());
  ready_.push_back(t);
}

PartialSchedule::Slot ReadyPool::best(TaskId t) const {
  PartialSchedule::Slot best;
  const double* arrival = arrivals_.data() + t * instance_->memories();
  for (WorkerId w = 0; w < free_.size(); ++w) {
    const double duration = instance_->seconds(t, w);
    if (duration == Instance::infinity()) continue;
    const double start = std::max(free_[w], arrival[instance_->memory_of(w)]);
    const PartialSchedule::Slot slot{w, start, start + duration};
    const bool better = aim_ == Aim::finish ? slot.finish < best.finish
                                            : best.worker == kNoWorker || slot.start < best.start ||
                                                  (slot.start == best.start && slot.finish < best.finish);
    if (better) best = slot;
  }
  return best;
}

void ReadyPool::place(TaskId t, const PartialSchedule::Slot& slot, std::vector<TaskId>& fresh) {
  slots_[t] = slot;
  free_[slot.worker] = slot.finish;
  const std::uint32_t hole = place_in_ready_[t];
  ready_[hole] = ready_.back();
  place_in_ready_[ready_[hole]] = hole;
  ready_.pop_back();
  for (const auto& edge : instance_->outputs(t))
    if (--missing_[edge.task] == 0) {
      enter(edge.task);
      fresh.push_back(edge.task);
    }
}

}  // namespace espalier
