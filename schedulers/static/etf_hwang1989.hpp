#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Earliest Task First. Hwang, Chow, Anger, Lee, SIAM J. Comput. 18(2), 1989: always the pair of ready task
/// and worker with the earliest start, ties by the longer way to the end. O(n log n (p + log n) + e m).
std::unique_ptr<StaticScheduler> make_etf_hwang1989();

}  // namespace espalier
