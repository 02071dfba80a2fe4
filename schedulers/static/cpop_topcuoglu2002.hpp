#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Critical Path on a Processor. Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.2: ready tasks by
/// upward plus downward rank; those of the critical path on the one worker that runs it fastest, the others
/// in the earliest-finishing gap. O(n (log n + p log n) + e m).
std::unique_ptr<StaticScheduler> make_cpop_topcuoglu2002();

}  // namespace espalier
