#pragma once

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Lower bounds on the makespan, in seconds (the file's own unit for graphs without unit); 0 where one was
/// not computed. schedulers/common/README.md has the formulas.
struct Bounds {
  double critical_path = 0;   ///< longest path with each task on its fastest kind, no transfers
  double area = 0;            ///< LP: fractional allocation of cost classes to kinds, loads balanced
  double area_transfers = 0;  ///< the area LP with the volume that must cross links
  double mixed = 0;           ///< LP with both: fractional allocation and path constraints
  double interval = 0;        ///< work that must fall into one interval, for platforms of one kind
  double best() const;
};
Bounds lower_bounds(const SchedulingProblem& problem);

/// Single bounds. O(n + e); one LP of classes x kinds columns; O(n q^2) for q interval ends, q limited. The
/// last two are 0 on one kind, and limited in size: a bounded number of paths and of item groups.
double critical_path_bound(const SchedulingProblem& problem);
double area_bound(const SchedulingProblem& problem);
double interval_bound(const SchedulingProblem& problem);
double transfer_bound(const SchedulingProblem& problem);
double mixed_bound(const SchedulingProblem& problem);

/// Refuses a plan that breaks precedence, capability, memory (a single task's working set), or a lower bound;
/// or that does not place each task exactly once. InputError says which task and why.
void validate(const Plan& plan, const SchedulingProblem& problem);

}  // namespace espalier
