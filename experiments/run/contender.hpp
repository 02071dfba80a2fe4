#pragma once

#include <memory>
#include <optional>
#include <string>

#include "experiments/run/local_problem.hpp"
#include "experiments/run/real_scheduler.hpp"
#include "experiments/simulate/engines.hpp"

namespace espalier {

/// A scheduler made ready for real runs and for the engines that simulate them: one decision for all.
struct Contender {
  std::string name;           ///< as it was asked for
  std::string starpu_policy;  ///< of StarPU's own; empty: one of ours
  std::string online;         ///< the model engine's online scheduler; empty: a plan, or there is none
  std::optional<Plan> plan;
  std::string hybrid;                          ///< of a plan: "allocation", "order", "both"; empty: strict
  double scheduler_seconds = 0;                ///< that planning took
  std::unique_ptr<starpu::TaskDriver> driver;  ///< of ours; refers to the problem it was made with
};

/// `name`: starpu:NAME; a name of the scheduler list, for a static one with "/allocation", "/order" or
/// "/both" behind it for its plan as hints; "one_worker" and "random_plan", plans that are poor on purpose.
/// `local` must outlive it. InputError for an unknown name, or when the scheduler refuses the problem.
Contender make_contender(const std::string& name, const LocalProblem& local, const RunRequest& request);

/// The schedule on the engine "model" or "simgrid"; nullopt for policies of StarPU's that the model engine
/// does not have. StarPU's own policies run as Espalier's of the same name on the model engine, as themselves
/// on simgrid.
std::optional<Trace> simulate_contender(const Contender& contender, const std::string& engine,
                                        const SchedulingProblem& problem, const EngineOptions& options = {});

/// The makespan to expect of a real run by the model engine, as predicted_makespan() says; 0 for policies
/// that it does not have.
double predict_contender(const Contender& contender, const LocalProblem& local);

}  // namespace espalier
