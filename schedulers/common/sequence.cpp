#include "schedulers/common/sequence.hpp"

#include <algorithm>
#include <numeric>

#include "schedulers/common/ranks.hpp"
#include "schedulers/common/ready_order.hpp"

namespace espalier {

Sequence::Sequence(const Instance& instance)
    : instance_(&instance),
      workers_(instance.workers()),
      order_(instance.tasks()),
      position_(instance.tasks()),
      pinned_(instance.tasks(), kNoWorker),
      slots_(instance.tasks()),
      after_(static_levels(instance)),
      free_at_((instance.tasks() + 1) * workers_, 0),
      arrivals_(instance.memories(), 0),
      duration_(instance.tasks() * workers_) {
  std::iota(order_.begin(), order_.end(), TaskId{0});
  std::iota(position_.begin(), position_.end(), 0U);
  for (TaskId t = 0; t < instance.tasks(); ++t) {
    after_[t] -= instance.least_seconds(t);
    for (WorkerId w = 0; w < workers_; ++w) duration_[t * workers_ + w] = instance.seconds(t, w);
  }
}

void Sequence::assign(const Plan& plan) {
  std::vector<double> key(order_.size());
  for (TaskId t = 0; t < key.size(); ++t) {
    key[t] = -plan.placements[t].start;
    pinned_[t] = plan.placements[t].worker;
  }
  std::size_t next = 0;
  in_ready_order(*instance_, key, [&](TaskId t) {
    position_[t] = static_cast<std::uint32_t>(next);
    order_[next++] = t;
  });
}

void Sequence::assign(const std::vector<double>& key) {
  std::fill(pinned_.begin(), pinned_.end(), kNoWorker);
  std::size_t next = 0;
  in_ready_order(*instance_, key, [&](TaskId t) {
    position_[t] = static_cast<std::uint32_t>(next);
    order_[next++] = t;
  });
}

double Sequence::evaluate(std::size_t from, double limit) {
  const auto memories = static_cast<MemoryId>(arrivals_.size());
  for (std::size_t i = from; i < order_.size(); ++i) {
    const TaskId t = order_[i];
    const double* free = free_at_.data() + i * workers_;
    std::fill(arrivals_.begin(), arrivals_.end(), 0.0);
    for (const auto& [bytes, home] : instance_->home_reads(t))
      for (MemoryId m = 0; m < memories; ++m)
        arrivals_[m] = std::max(arrivals_[m], instance_->transfer(bytes, home, m));
    for (const auto& [u, bytes] : instance_->inputs(t)) {
      const double finish = slots_[u].finish;
      const MemoryId source = instance_->memory_of(slots_[u].worker);
      for (MemoryId m = 0; m < memories; ++m)
        arrivals_[m] = std::max(arrivals_[m], finish + instance_->transfer(bytes, source, m));
    }
    PartialSchedule::Slot best;
    const WorkerId pin = pinned_[t];
    const WorkerId first = pin == kNoWorker ? 0 : pin;
    const WorkerId last = pin == kNoWorker ? static_cast<WorkerId>(workers_) : static_cast<WorkerId>(pin + 1);
    for (WorkerId w = first; w < last; ++w) {
      const double start = std::max(free[w], arrivals_[instance_->memory_of(w)]);
      const double finish = start + duration_[t * workers_ + w];
      if (finish == Instance::infinity()) continue;
      // of equal ends the later start: it leaves the earlier free worker to others
      if (finish < best.finish || (finish == best.finish && free[w] > free[best.worker]))
        best = {w, start, finish};
    }
    if (best.worker == kNoWorker || best.finish + after_[t] > limit) return Instance::infinity();
    slots_[t] = best;
    double* next = free_at_.data() + (i + 1) * workers_;
    std::copy(free, free + workers_, next);
    next[best.worker] = best.finish;
  }
  const double* ends = free_at_.data() + order_.size() * workers_;
  return *std::max_element(ends, ends + workers_);
}

double Sequence::mean_end() const {
  const double* ends = free_at_.data() + order_.size() * workers_;
  return std::accumulate(ends, ends + workers_, 0.0) / static_cast<double>(workers_);
}

void Sequence::move(std::size_t from, std::size_t to) {
  if (to < from)
    std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
  else
    std::rotate(order_.begin() + from, order_.begin() + from + 1, order_.begin() + to + 1);
  for (std::size_t i = std::min(from, to); i <= std::max(from, to); ++i)
    position_[order_[i]] = static_cast<std::uint32_t>(i);
}

std::pair<std::size_t, std::size_t> Sequence::range(TaskId t) const {
  std::size_t low = 0, high = order_.size() - 1;
  for (const auto& edge : instance_->inputs(t)) low = std::max<std::size_t>(low, position_[edge.task] + 1);
  for (const auto& edge : instance_->outputs(t)) high = std::min<std::size_t>(high, position_[edge.task] - 1);
  return {low, high};
}

void Sequence::critical_chain(std::vector<TaskId>& chain) const {
  chain.clear();
  TaskId t = kNoTask;
  for (TaskId u = 0; u < slots_.size(); ++u)
    if (t == kNoTask || slots_[u].finish > slots_[t].finish) t = u;
  while (t != kNoTask && chain.size() <= order_.size()) {
    chain.push_back(t);
    const auto& slot = slots_[t];
    TaskId cause = kNoTask;
    double latest = -1;
    for (const auto& [u, bytes] : instance_->inputs(t)) {
      const double arrival =
          slots_[u].finish + instance_->transfer(bytes, instance_->memory_of(slots_[u].worker),
                                                 instance_->memory_of(slot.worker));
      if (arrival > latest) {
        latest = arrival;
        cause = u;
      }
    }
    if (latest < slot.start || cause == kNoTask) {
      cause = kNoTask;  // the worker was busy until then: the task before on it
      for (std::size_t i = position_[t]; i-- > 0;)
        if (slots_[order_[i]].worker == slot.worker) {
          cause = order_[i];
          break;
        }
    }
    t = cause;
  }
}

}  // namespace espalier
