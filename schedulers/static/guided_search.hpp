#pragma once

#include <memory>

#include "schedulers/static/judge.hpp"

namespace espalier {

/// Search over the guides of list schedules (guided_list.hpp): allocation weights of kernels on places,
/// ranks, and, for networks, places of whole micro-batches and runs of layers. A guide's list schedule is
/// made in about a microsecond a task and worker; those that promise not to be worse are run by the model
/// engine, whose makespan decides (threshold accepting; Dueck, Scheuer, J. Comput. Phys. 90(1), 1990).
/// Seeded; ends at `bound`, after `steps` schedules, or at the time limit.
void search_guides(const SchedulingProblem& problem, Judge& judge, double bound, std::int64_t steps,
                   double seconds_limit);
/// Steps that take about so long on one core of today, from the problem's size alone.
std::int64_t guide_steps_within(const SchedulingProblem& problem, double seconds);

/// The search by itself, from HEFT's order and earliest ends.
std::unique_ptr<StaticScheduler> make_guided_search();

}  // namespace espalier
