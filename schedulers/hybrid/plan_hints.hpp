#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// A given plan as hints to a greedy policy, the way StarPU carries it out when it is not strict: with
/// `allocation`, ready tasks queue on their worker and idle workers steal from the next ones; else one queue
/// serves all. With `order`, queues are in the order of the plan's starts; else first come, first served.
/// O(log n + workers) a task. Agullo, Beaumont, Eyraud-Dubois, Kumar, IPDPS 2016.
std::unique_ptr<OnlinePolicy> make_plan_hints(Plan plan, bool allocation, bool order);

}  // namespace espalier
