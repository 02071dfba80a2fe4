#pragma once

#include "runtime/plan/plan.hpp"
#include "runtime/trace/trace.hpp"

/// The model engine: a deterministic discrete-event simulation in virtual time. Workers run one task at a
/// time; links are shared max-min fairly; transfers overlap compute; memories evict what is used furthest in
/// the future (plans) or least recently (online policies); inputs of the next task of a worker are
/// prefetched.
namespace espalier {

struct SimulationOptions {
  bool record_trace = true;  ///< false: only makespan, peaks and totals (search loops)
  bool prefetch = true;
  bool contention = true;     ///< false: each transfer has its route alone
  double duration_noise = 0;  ///< relative standard deviation of task times, drawn with the problem's seed
};

/// Executes a plan: each worker takes its tasks in the plan's order. InputError when the plan is for another
/// graph or platform, or deadlocks.
Trace simulate(const SchedulingProblem& problem, const Plan& plan, const SimulationOptions& options = {});
/// Executes with an online policy. InternalError when the policy withholds ready tasks for ever.
Trace simulate(const SchedulingProblem& problem, OnlinePolicy& policy, const SimulationOptions& options = {});

}  // namespace espalier
