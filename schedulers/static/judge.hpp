#pragma once

#include <string_view>

#include "runtime/model/simulate.hpp"
#include "runtime/plan/plan.hpp"

namespace espalier {

/// Compares plans by what the model engine makes of them.
class Judge {
 public:
  explicit Judge(const SchedulingProblem& problem) : problem_(problem) {}

  /// Keeps the plan if it is better than all before. Its makespan on the engine; infinity when it cannot be
  /// carried out.
  double consider(const Plan& plan);
  /// The same for a run of an online policy, turned into a plan.
  double consider(OnlinePolicy& policy, std::string_view name);

  bool has_plan() const { return !best_.placements.empty(); }
  const Plan& best() const { return best_; }
  double makespan() const { return makespan_; }
  /// Some plan's run was longer than the plan says: contention or full memories matter.
  bool contended() const { return contended_; }

 private:
  const SchedulingProblem& problem_;
  Plan best_;
  bool contended_ = false;
  double makespan_ = std::numeric_limits<double>::infinity();
};

/// What a run did, as a plan: placements with the run's own times.
Plan plan_of_trace(const SchedulingProblem& problem, const Trace& trace, std::string_view scheduler);

}  // namespace espalier
