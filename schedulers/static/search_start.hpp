#pragma once

#include <string_view>

#include "schedulers/common/instance.hpp"

namespace espalier {

/// The plan of least makespan among the list schedulers, ties to the first; those that are quadratic in the
/// number of tasks only on small problems.
Plan best_list_plan(const SchedulingProblem& problem);

/// The local search itself, for schedulers that build on it. Never worse than `start`. `bound`: ends there.
Plan improved_plan(const Instance& instance, const Plan& start, double bound, double seconds_limit,
                   std::string_view scheduler);

}  // namespace espalier
