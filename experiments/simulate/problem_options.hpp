#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/run/lowering_arguments.hpp"
#include "experiments/simulate/simulation.hpp"
#include "experiments/workloads/workload.hpp"
#include "runtime/platform/platform.hpp"
#include "runtime/simgrid/sampling_writer.hpp"

namespace espalier {

/// The options that plan, simulate and compare have in common.
struct ProblemOptions {
  std::string graph, platform, mode, costs, gradients = "auto";
  std::string model_parallel;  ///< "layers": contiguous stages on devices; empty: none
  std::int64_t batch = 0, micro_batches = 1;
  int replicas = 0, split = 1;
  std::uint64_t seed = 0;
  double time_limit = 1;
  bool for_run = false;        ///< the task graph that `run` executes, with costs measured here
  LoweringArguments lowering;  ///< for it

  /// GRAPH, --mode, --batch, --micro-batches, --seed, --time-limit; --platform where `with_platform`.
  void add_to(CLI::App& command, bool with_platform = true);
  /// The same without GRAPH and platform.
  void add_common_to(CLI::App& command);
  /// --for-run and the options of lowering.
  void add_for_run_to(CLI::App& command);
  /// InputError for a time limit of 0 or less, an unknown mode.
  void require_sound() const;
  /// InputError for what a real run on this machine does not have, naming `option`, which asks for one.
  void require_for_run(const std::string& option) const;
  /// The request of a real run with these options.
  RunRequest run_request() const;
  /// `target`: the platform that a network is for, where it is known.
  WorkloadOptions workload(const Platform* target = nullptr) const;
  Reproduction reproduction(const TaskGraph& graph) const;
};

/// Everything a scheduler needs, kept together: the problem refers to the other members.
struct LoadedProblem {
  Workload workload;
  Platform platform;
  CostTable costs;
  std::uint64_t seed;
  Seconds time_limit;
  std::optional<simgrid::Bus> bus;    ///< measured speeds of a calibrated machine, for StarPU's policies
  std::vector<std::string> warnings;  ///< of the platform's costs
  SchedulingProblem problem() const { return {workload.graph, platform, costs, seed, time_limit}; }
};
LoadedProblem load_problem(const ProblemOptions& options);

}  // namespace espalier
