#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Min-min. Ibarra, Kim, JACM 24(2), 1977, for independent tasks, here over the ready ones: always the ready
/// task that can end first, where it ends first. O(n log n (p + log n) + e m) as ends only grow.
std::unique_ptr<StaticScheduler> make_minmin();

}  // namespace espalier
