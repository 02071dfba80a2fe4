#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

/// A static plan's decisions as hints to a dynamic policy: Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are
/// static schedules so bad? A case study on Cholesky factorization", IPDPS 2016. The plan is HEFT's, the
/// policy is dmdas.
namespace espalier {

/// Each task stays on the kind of device and the memory that the plan gives it; the order is dynamic.
std::unique_ptr<OnlinePolicy> make_hybrid_allocation();
/// Priorities are the plan's order of starts; the allocation is dynamic.
std::unique_ptr<OnlinePolicy> make_hybrid_order();
std::unique_ptr<OnlinePolicy> make_hybrid_both();

}  // namespace espalier
