#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Dual approximation for hybrid platforms. Bleuse, Kedad-Sidhoum, Monna, Mounie, Trystram, CCPE 27(6), 2015,
/// extended to graphs: the least makespan guess for which the tasks, those that a change of kind slows most
/// first, fit into the kinds' areas; then HEFT inside the kinds chosen. O(b n k + n p log n + e m) for b
/// bisections and k kinds; on one kind it is HEFT.
std::unique_ptr<StaticScheduler> make_dual_hp();

}  // namespace espalier
