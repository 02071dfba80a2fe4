#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// A given plan as hints to a greedy policy, the way the plan is carried out on every engine when it is not
/// strict. Agullo, Beaumont, Eyraud-Dubois, Kumar, IPDPS 2016.
/// Workers all of one kind: with `allocation`, ready tasks queue on their worker and idle workers steal from
/// the next ones; else one queue serves all. With `order`, queues are in the order of the plan's starts; else
/// first come, first served. O(log n + workers) a task. Unlike workers: dmdas with the hints (hybrid.hpp), as
/// stealing and a common queue are blind to how much slower a task is elsewhere.
std::unique_ptr<OnlinePolicy> make_plan_hints(Plan plan, bool allocation, bool order,
                                              const Platform& platform);

/// Workers of more than one kind, or on more than one memory.
bool has_unlike_workers(const Platform& platform);

}  // namespace espalier
