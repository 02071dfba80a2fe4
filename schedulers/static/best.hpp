#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Portfolio under the problem's time limit, never worse than its members: every other scheduler of the list,
/// quick ones first, then local search and branch and bound, each plan (and each online policy's run, as a
/// plan) judged by the model engine. Ends at once when a lower bound is met. The quick members always run, so
/// that a short limit may be exceeded by theirs.
std::unique_ptr<StaticScheduler> make_best();

}  // namespace espalier
