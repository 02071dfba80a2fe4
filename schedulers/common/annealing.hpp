#pragma once

#include "schedulers/common/sequence.hpp"

namespace espalier {

struct AnnealingOptions {
  std::uint64_t seed = 0;
  std::int64_t steps = 10000;
  double seconds_limit = 1;  ///< a cut-off; results are the same from run to run as long as it is not met
  double bound = 0;          ///< ends when the makespan is there
  double heat = 0.03;        ///< first temperature, share of the makespan
};

/// Simulated annealing over (allocation, order) from the sequence's present state: moves of a task in the
/// order and to another worker, half of them on the critical chain. Returns the best slots found; the
/// sequence is left at the last state.
struct AnnealingResult {
  std::vector<PartialSchedule::Slot> slots;
  double makespan = 0;
};
AnnealingResult anneal(const Instance& instance, Sequence& sequence, const AnnealingOptions& options);

/// Steps that take about `seconds` on one core of today, from the problem's size alone.
std::int64_t steps_within(const Instance& instance, double seconds);

}  // namespace espalier
