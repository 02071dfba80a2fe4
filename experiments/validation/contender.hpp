#pragma once

#include <string>

#include "experiments/run/local_problem.hpp"
#include "experiments/run/real_scheduler.hpp"

namespace espalier {

/// A scheduler of a validation, ready to run for real and on simulating engines.
struct Contender {
  std::string name;           ///< as it was asked for
  std::string starpu_policy;  ///< of StarPU's own; empty: one of ours
  std::string online;         ///< the model engine's online scheduler; empty: a plan, or there is none
  std::optional<Plan> plan;
  starpu::PlanMode mode = starpu::PlanMode::strict;
  std::unique_ptr<starpu::TaskDriver> driver;  ///< of ours; refers to the problem it was made with
};

/// See ValidationRequest::schedulers. `local` must outlive it. InputError for an unknown name.
Contender make_contender(const std::string& name, const LocalProblem& local, const RunRequest& request);

/// The schedule on the model engine; nullopt for policies that it does not have.
std::optional<Trace> simulate_contender(const Contender& contender, const SchedulingProblem& problem,
                                        const SimulationOptions& options = {});

/// As predicted_makespan; 0 for policies that the model engine does not have.
double predict_contender(const Contender& contender, const LocalProblem& local);

}  // namespace espalier
