#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// HEFT with lookahead. Bittencourt, Sakellariou, Madeira, PDP 2010: each task where the latest end among its
/// successors, each placed by HEFT after it, is least. O(n p log n + e p^2 log n + e p m).
std::unique_ptr<StaticScheduler> make_lookahead_heft_bittencourt2010();

}  // namespace espalier
