#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Max-min. Ibarra, Kim, JACM 24(2), 1977; Braun et al., JPDC 61(6), 2001: always the ready task whose least
/// end is latest, where it ends first. O(n r p + e m) for r ready tasks at a time.
std::unique_ptr<StaticScheduler> make_maxmin();

}  // namespace espalier
