#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Simulated annealing over (allocation, order), started from the best of the list schedulers, with a number
/// of steps that follows from the problem's size; on identical workers without transfers forward-backward
/// improvement. Seeded; the time limit only cuts off.
std::unique_ptr<StaticScheduler> make_local_search();

}  // namespace espalier
