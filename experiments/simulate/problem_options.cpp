#include "experiments/simulate/problem_options.hpp"

#include <cmath>
#include <fmt/format.h>

#include "experiments/cli/number.hpp"
#include "experiments/run/local_problem.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "experiments/workloads/layer_stages.hpp"
#include "experiments/workloads/platform_choice.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"
#include "runtime/perfmodel/fitted/all_reduce_costs.hpp"
#include "runtime/task_graph/network_tasks.hpp"

namespace espalier {

void ProblemOptions::add_to(CLI::App& command, bool with_platform) {
  command
      .add_option("GRAPH", graph,
                  "a network, an .onnx file, a task-graph file, or a generator as cholesky:20")
      ->required();
  if (with_platform)
    command
        .add_option(
            "--platform", platform,
            "a name of `espalier list platforms`, a .yaml file, identical:P, local, or a calibrated StarPU "
            "machine (mirage, DIR:HOST)")
        ->required();
  add_common_to(command);
}

void ProblemOptions::add_common_to(CLI::App& command) {
  command.add_option("--mode", mode, "inference or training");
  command.add_option("--batch", batch, "samples of one execution")->transform(whole_number(1, kLargestBatch));
  command.add_option("--micro-batches", micro_batches, "the batch is cut into so many")
      ->capture_default_str()
      ->transform(whole_number(1, kLargestBatch));
  command
      .add_option("--replicas", replicas,
                  "training: copies of the gradients that micro-batches add to (0: one for each, 16 at most)")
      ->transform(whole_number(0, 1024));
  command
      .add_option(
          "--gradients", gradients,
          "training: how copies of the gradients are added up: tree, all-reduce, or auto (all-reduce where "
          "the platform's collectives were measured)")
      ->capture_default_str();
  command.add_option("--split", split, "parts of the output channels of convolution and dense layers")
      ->transform(whole_number(1, kMostSplit));
  command.add_option("--costs", costs, std::string(CostChoice::kHelp));
  command.add_option(
      "--model-parallel", model_parallel,
      "layers: the layers are cut into contiguous stages of equal time, one for each accelerator");
  command.add_option("--seed", seed, "of every random choice")
      ->capture_default_str()
      ->transform(seed_number());
  command.add_option("--time-limit", time_limit, "seconds that a searching scheduler may take")
      ->capture_default_str()
      ->transform(positive_number(kMostSeconds));
}

void ProblemOptions::add_for_run_to(CLI::App& command) {
  command.add_flag("--for-run", for_run,
                   "lower the network as `espalier run` does, with costs measured here; --platform local");
  lowering.add_to(command);
}

void ProblemOptions::require_sound() const {
  if (!(time_limit > 0) || !std::isfinite(time_limit))
    throw InputError(fmt::format("--time-limit {}: more than 0 seconds are needed", time_limit));
  if (!mode.empty() && mode != "inference" && mode != "training")
    throw InputError(fmt::format("--mode {}: accepted are inference and training", mode));
  if (gradients != "auto" && gradients != "tree" && gradients != "all-reduce")
    throw InputError(fmt::format("--gradients {}: accepted are auto, tree and all-reduce", gradients));
  if (!model_parallel.empty() && model_parallel != "layers")
    throw InputError(fmt::format(
        "--model-parallel {}: accepted is layers (--split PARTS splits output channels)", model_parallel));
  if (batch < 0) throw InputError(fmt::format("--batch {}: at least 1 is needed", batch));
  if (micro_batches < 1)
    throw InputError(fmt::format("--micro-batches {}: at least 1 is needed", micro_batches));
}

WorkloadOptions ProblemOptions::workload(const Platform* target) const {
  WorkloadOptions o;
  if (!mode.empty()) o.training = mode == "training";
  o.batch = batch;
  o.micro_batches = micro_batches;
  o.replicas = replicas;
  o.split = split;
  o.costs = costs;
  o.all_reduce = gradients == "all-reduce" ||
                 (gradients == "auto" && target != nullptr &&
                  fitted::AllReduceCosts(CostChoice(costs).all_reduces(), *target).measured());
  return o;
}

Reproduction ProblemOptions::reproduction(const TaskGraph& g) const {
  Reproduction r;
  r.graph = graph;
  r.platform = platform;
  r.mode = mode;
  r.costs = costs;
  r.batch = g.samples > 0 ? static_cast<std::int64_t>(g.samples) : batch;
  r.micro_batches = micro_batches;
  r.seed = seed;
  r.time_limit = time_limit;
  return r;
}

namespace {

/// What `run` would execute with the same options.
LoadedProblem load_for_run(const ProblemOptions& options) {
  options.require_for_run("--for-run");
  const NetworkSource source =
      load_network(options.graph, all_layers(), {options.lowering.weights, options.seed});
  LocalProblem local = load_local_problem(source.graph, all_layers(), options.run_request());
  return {{local.prepared.program->tasks, {}, {}},
          std::move(local.platform),
          std::move(local.costs),
          options.seed,
          Seconds(options.time_limit),
          {},
          {}};
}

}  // namespace

void ProblemOptions::require_for_run(const std::string& option) const {
  const auto refuse = [&](const std::string& given, const std::string& why) {
    throw InputError(fmt::format("{} with {}: {}", option, given, why));
  };
  if (platform != "local")
    refuse(
        "platform " + platform,
        "a real run is on this machine, and this platform only stands for one; accepted is --platform local");
  if (kind_of_graph(graph) == GraphKind::task_graph)
    refuse(graph, "a task graph has no kernels that could run; accepted are networks' names and .onnx files");
  if (mode == "training") refuse("--mode training", "real runs infer; accepted is --mode inference");
  if (micro_batches != 1)
    refuse("--micro-batches", "--micro-batch SAMPLES is needed in place of it, as for `espalier run`");
  if (!costs.empty() && costs != "calibrated")
    refuse("--costs " + costs, "the costs of a real run are calibrated ones; accepted is --costs calibrated");
  if (!model_parallel.empty()) refuse("--model-parallel", "a real run has no such option");
  if (split != 1) refuse("--split", "a real run has no such option; --task-ms sets how long its tasks are");
  if (replicas != 0 || gradients != "auto") refuse("--replicas or --gradients", "real runs infer");
}

RunRequest ProblemOptions::run_request() const {
  RunRequest request;
  request.batch = batch;
  request.seed = seed;
  request.time_limit = time_limit;
  lowering.apply(request);
  return request;
}

LoadedProblem load_problem(const ProblemOptions& options) {
  options.require_sound();
  if (options.for_run) return load_for_run(options);
  LoadedProblem p{{}, {}, {}, options.seed, Seconds(options.time_limit), {}, {}};
  const bool network = kind_of_graph(options.graph) != GraphKind::task_graph;
  // a file of tasks may be without units, which the platform must know; a network may depend on its platform
  if (!network) p.workload = load_workload(options.graph, options.workload());
  PlatformChoice choice = choose_platform(options.platform, p.workload.graph.unit_less);
  if (network) p.workload = load_workload(options.graph, options.workload(&choice.platform));
  p.platform = std::move(choice.platform);
  if (choice.sampled) {
    const auto costs = std::make_shared<const sampling::SampledCosts>(*choice.sampled, p.workload.graph);
    p.warnings = costs->warnings();
    p.workload.models.insert(p.workload.models.begin(), costs);
    p.bus = simgrid::Bus{std::move(choice.sampled->bandwidth), std::move(choice.sampled->latency)};
  }
  p.costs = p.workload.costs(p.platform);
  if (!options.model_parallel.empty()) place_by_layers(p.workload.graph, p.platform, p.costs);
  return p;
}

}  // namespace espalier
