#include "schedulers/common/annealing.hpp"

#include <algorithm>
#include <cmath>

#include "schedulers/common/deadline.hpp"

namespace espalier {
namespace {

class Annealer {
 public:
  Annealer(const Instance& instance, Sequence& sequence, const AnnealingOptions& options)
      : instance_(instance), sequence_(sequence), options_(options), random_(options.seed) {}

  AnnealingResult run() {
    const Deadline stop(options_.seconds_limit);
    current_ = sequence_.evaluate(0, Instance::infinity());
    value_ = current_ + kTieWeight * sequence_.mean_end();
    keep();
    sequence_.critical_chain(chain_);
    const double start_heat = options_.heat * current_;
    for (std::int64_t step = 0; step < options_.steps && best_.makespan > options_.bound; ++step) {
      if (step % 32 == 31 && stop.passed()) break;
      const double progress = static_cast<double>(step) / static_cast<double>(options_.steps);
      heat_ = start_heat * (1 - progress) * (1 - progress);
      try_change();
    }
    return std::move(best_);
  }

 private:
  static constexpr double kTieWeight = 1e-3;

  double uniform() { return static_cast<double>(random_() >> 11) * 0x1.0p-53; }

  TaskId pick() {
    if (!chain_.empty() && random_() % 2 == 0) return chain_[random_() % chain_.size()];
    return static_cast<TaskId>(random_() % instance_.tasks());
  }

  void try_change() {
    const TaskId t = pick();
    const std::size_t from = sequence_.position(t);
    const WorkerId pin = sequence_.pinned(t);
    std::size_t to = from;
    WorkerId worker = pin;
    const auto kind = random_() % 4;
    if (kind != 0) {
      const auto [low, high] = sequence_.range(t);
      to = low + random_() % (high - low + 1);
    }
    if (kind != 1) {
      worker = random_() % 2 == 0 ? kNoWorker : static_cast<WorkerId>(random_() % instance_.workers());
      if (worker != kNoWorker && instance_.seconds(t, worker) == Instance::infinity()) return;
    }
    if (to == from && worker == pin) return;
    const std::size_t changed = std::min({from, to, stale_});
    const double threshold = value_ - heat_ * std::log(1 - uniform());
    sequence_.move(from, to);
    sequence_.pin(t, worker);
    const double makespan = sequence_.evaluate(changed, threshold);
    const double value = makespan + kTieWeight * (makespan < threshold ? sequence_.mean_end() : 0);
    if (value <= threshold && makespan < Instance::infinity()) {
      current_ = makespan;
      value_ = value;
      stale_ = instance_.tasks();
      if (makespan < best_.makespan) keep();
      if (++accepted_ % 8 == 0) sequence_.critical_chain(chain_);
      return;
    }
    sequence_.move(to, from);
    sequence_.pin(t, pin);
    stale_ = changed;  // the next evaluation begins there
  }

  void keep() {
    best_.slots = sequence_.slots();
    best_.makespan = current_;
  }

  const Instance& instance_;
  Sequence& sequence_;
  const AnnealingOptions& options_;
  std::mt19937_64 random_;
  AnnealingResult best_;
  std::vector<TaskId> chain_;
  double current_ = 0, value_ = 0, heat_ = 0;
  std::int64_t accepted_ = 0;
  std::size_t stale_ =
      instance_.tasks();  ///< from this position on the sequence's times are not the current ones
};

}  // namespace

AnnealingResult anneal(const Instance& instance, Sequence& sequence, const AnnealingOptions& options) {
  if (instance.tasks() == 0) return {};
  return Annealer(instance, sequence, options).run();
}

std::int64_t steps_within(const Instance& instance, double seconds) {
  std::size_t edges = 0;
  for (TaskId t = 0; t < instance.tasks(); ++t) edges += instance.inputs(t).size();
  const double work =
      static_cast<double>(instance.tasks() * (instance.workers() + 6) + edges * (instance.memories() + 2));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(seconds * 1e9 / (work + 50)), 50, 2000000);
}

}  // namespace espalier
