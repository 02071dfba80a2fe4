#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Heterogeneous Earliest Finish Time. Topcuoglu, Hariri, Wu, IEEE TPDS 13(3), 2002, section 4.1: tasks by
/// falling upward rank, each in the earliest-finishing gap over all workers. O(n (log n + p log n) + e m) for
/// p workers and m memories.
std::unique_ptr<StaticScheduler> make_heft_topcuoglu2002();

}  // namespace espalier
