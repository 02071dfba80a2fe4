#pragma once

#include <functional>
#include <memory>

#include "runtime/plan/plan.hpp"

/// A static plan's decisions as hints to a dynamic policy: Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are
/// static schedules so bad? A case study on Cholesky factorization", IPDPS 2016. The policy is dmdas.
namespace espalier {

using MakeStatic = std::function<std::unique_ptr<StaticScheduler>()>;

/// With `allocation`, each task stays on the kind of device and the memory that the plan gives it; else the
/// allocation is dynamic. With `order`, priorities are the plan's order of starts; else the graph's hints.
/// The plan is made by `planner` when the run begins.
std::unique_ptr<OnlinePolicy> make_hybrid(MakeStatic planner, bool allocation, bool order);

/// With a given plan, for this problem.
std::unique_ptr<OnlinePolicy> make_hybrid(Plan plan, bool allocation, bool order);

/// With HEFT's plan.
std::unique_ptr<OnlinePolicy> make_hybrid_allocation();
std::unique_ptr<OnlinePolicy> make_hybrid_order();
std::unique_ptr<OnlinePolicy> make_hybrid_both();

}  // namespace espalier
