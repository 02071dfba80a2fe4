#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Predict Earliest Finish Time. Arabnejad, Barbosa, IEEE TPDS 25(3), 2014: ready tasks by mean optimistic
/// cost, each where its finish plus the optimistic cost of what follows is least. O(n p log n + e (g^2 + m))
/// for g places (pairs of kind and memory).
std::unique_ptr<StaticScheduler> make_peft_arabnejad2014();

}  // namespace espalier
