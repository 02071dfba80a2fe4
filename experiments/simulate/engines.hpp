#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiments/simulate/problem_options.hpp"
#include "runtime/simgrid/simulate.hpp"

/// Engines that carry out a scheduler's decisions in virtual time, side by side.
namespace espalier {

struct EngineOptions {
  SimulationOptions model;
  std::string hybrid;  ///< a plan as hints: "allocation", "order", "both"; empty: strict
  /// For engines that run in a process of their own: asked while it runs, first before anything
  /// is written for it; true: it is ended, and simgrid::Stopped is thrown. Empty: it runs to its end.
  std::function<bool()> stop;
};

/// "model" and "simgrid".
std::vector<std::string> simulating_engines();
/// InputError listing them when there is none of that name.
void require_simulating_engine(const std::string& engine);

/// Real runs on this machine; no simulating engine.
constexpr const char* kRealEngine = "starpu";

/// "starpu:dmdas": a policy of StarPU's own. The model engine does not know them.
bool is_starpu_policy(const std::string& scheduler);
/// "dmdas" of "starpu:dmdas"; empty for others.
std::string starpu_policy_of(const std::string& scheduler);

/// "heft_topcuoglu2002/both": a scheduler, and how its plan is given as hints.
struct SchedulerName {
  std::string scheduler, hybrid;  ///< hybrid: "allocation", "order", "both"; empty: strict
};
/// InputError for another word behind the slash, or one behind a policy that makes no plan.
SchedulerName scheduler_name(const std::string& text);

/// On the engine simgrid: an online policy of ours or starpu:NAME; a plan.
/// Tasks of a graph without priorities get upward ranks as priorities for StarPU's own policies. Errors as
/// simgrid::simulate.
SimulationResult simulate_in_starpu(const SchedulingProblem& problem, const std::string& policy,
                                    const simgrid::SimulateOptions& options = {});
SimulationResult simulate_in_starpu(const SchedulingProblem& problem, const Plan& plan,
                                    const std::string& hybrid, const simgrid::SimulateOptions& options = {});

/// By the scheduler's name: a static one plans and the engine carries the plan out, an online one decides on
/// the way, StarPU's own do so on simgrid. InputError for an unknown name, for one that the engine does not
/// have, for a hybrid of what makes no plan.
SimulationResult run_scheduler(const std::string& engine, const LoadedProblem& loaded,
                               const std::string& scheduler, const EngineOptions& options = {});
SimulationResult run_plan(const std::string& engine, const LoadedProblem& loaded, const Plan& plan,
                          const EngineOptions& options = {});

}  // namespace espalier
