#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/calibrate/kernel_times.hpp"
#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/run/local_problem.hpp"
#include "experiments/run/lowering_arguments.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"
#include "runtime/starpu/history.hpp"

namespace espalier {
namespace {

/// Calibration runs have CPU workers only.
constexpr const char* kNoLinks = "none measured: all workers are cores, which share the main memory";

struct CalibrateOptions {
  LoweringArguments lowering;
  std::vector<std::string> graphs;
  std::int64_t batch = 16;
  std::uint64_t seed = 0;
  double error = 1, seconds = 0;
  bool quick = false, json = false, from_starpu = false;
};

/// What a graph's calibration has found.
struct Calibrated {
  LocalProblem local;
  KernelTimes kernels;
  std::size_t from_starpu = 0;  ///< costs taken over from StarPU's history
};

nlohmann::ordered_json kernels_to_json(const KernelTimes& kernels) {
  auto list = nlohmann::ordered_json::array();
  for (const KernelTime& t : kernels.times)
    list.push_back({{"codelet", t.node.codelet},
                    {"signature", t.node.signature},
                    {"implementation", t.implementation},
                    {"chosen", t.chosen},
                    {"seconds", t.cost.seconds},
                    {"relative_error", t.cost.relative_error},
                    {"samples", t.cost.samples}});
  return list;
}

nlohmann::ordered_json to_json(const Calibrated& done, const std::string& graph) {
  const LocalProblem& local = done.local;
  nlohmann::ordered_json j;
  const TaskGraph& tasks = local.prepared.program->tasks;
  j["graph"] = graph;
  j["batch"] = local.prepared.batch;
  j["micro_batch"] = local.prepared.micro_batch;
  j["tasks"] = tasks.task_count();
  j["cost_classes"] = tasks.classes.size();
  j["runs"] = local.calibration.runs;
  j["disturbed_runs"] = local.calibration.disturbed;
  j["trusted"] = local.calibration.trusted;
  j["seconds"] = local.calibration.seconds;
  j["relative_error"] = local.calibration.relative_error;
  j["task_overhead"] = local.platform.kinds[0].task_overhead.value;
  j["run_overhead"] = local.run_overhead;
  j["deviation"] = local.deviation;
  auto& list = j["classes"] = nlohmann::ordered_json::array();
  for (CostClass c = 0; c < tasks.classes.size(); ++c) {
    const MeasuredCost* cost = local.calibration.costs.find(tasks.classes[c]);
    list.push_back({{"codelet", tasks.classes[c].codelet},
                    {"signature", tasks.classes[c].signature},
                    {"seconds", local.costs.seconds(c, 0)},
                    {"relative_error", cost != nullptr ? cost->relative_error : 0},
                    {"samples", cost != nullptr ? cost->samples : 0}});
  }
  j["kernel_seconds"] = done.kernels.seconds;
  j["kernels"] = kernels_to_json(done.kernels);
  if (done.from_starpu > 0) j["from_starpu"] = done.from_starpu;
  return j;
}

/// Costs that StarPU's own history models have of the program's tasks.
MeasuredCosts collected(starpu::Machine& machine, const TaskGraph& graph) {
  MeasuredCosts costs;
  for (const CostClassInfo& c : graph.classes)
    if (const auto seconds = starpu::history_seconds(machine, c.codelet, c.footprint))
      costs.set(c, {*seconds, 0, 10});
  return costs;
}

void give(starpu::Machine& machine, const LocalProblem& local) {
  const TaskGraph& graph = local.prepared.program->tasks;
  std::vector<starpu::HistoryTime> times;
  for (CostClass c = 0; c < graph.classes.size(); ++c)
    times.push_back({graph.classes[c].codelet, graph.classes[c].footprint, local.costs.seconds(c, 0)});
  starpu::give_history(machine, times);
}

/// The program as it runs, then its kernels one by one; times go to the cache and to StarPU's models.
Calibrated calibrate_one(const CalibrateOptions& o, const std::string& graph, RunRequest request) {
  const NetworkSource source = load_network(graph, all_layers(), {o.lowering.weights, o.seed});
  const MachineIdentity identity = machine_identity(workers_for(o.lowering.cores), o.lowering.bf16);
  Calibrated done;
  if (o.from_starpu) {
    const PreparedProgram prepared = prepare_program(source.graph, all_layers(), request);
    starpu::Machine machine({"eager", request.machine.cores});
    const MeasuredCosts costs = collected(machine, prepared.program->tasks);
    if (costs.size() == 0)
      throw InputError(
          fmt::format("{}: StarPU's history has none of its tasks; `espalier run {} --scheduler "
                      "starpu:dmda` collects them",
                      graph, graph));
    save_costs(costs, identity);
    done.from_starpu = costs.size();
    request.recalibrate = false;
  }
  done.local = load_local_problem(source.graph, all_layers(), request);
  if (request.stop->load()) return done;
  starpu::Machine machine({"eager", request.machine.cores});
  done.kernels = measure_kernels(done.local.prepared, all_layers(), machine, request.kernels,
                                 request.calibration, o.seed, request.stop);
  if (!done.kernels.times.empty()) save_costs(done.kernels.costs(), identity);
  give(machine, done.local);
  return done;
}

void calibrate_all(const CalibrateOptions& o, int& exit_code) {
  const std::vector<std::string> graphs = o.graphs.empty() ? std::vector<std::string>{"resnet50"} : o.graphs;
  RunRequest request;
  request.batch = o.batch;
  request.seed = o.seed;
  request.recalibrate = true;
  request.stop = &interrupt_flag();
  request.calibration.relative_error = o.error / 100;
  request.calibration.max_seconds = o.seconds > 0 ? o.seconds : o.quick ? 10 : 60;
  request.calibration.min_runs = o.quick ? 5 : 30;
  o.lowering.apply(request);
  auto results = nlohmann::ordered_json::array();
  for (const std::string& graph : graphs) {
    const Calibrated done = calibrate_one(o, graph, request);
    const LocalProblem& local = done.local;
    results.push_back(to_json(done, graph));
    if (!o.json && done.from_starpu > 0)
      fmt::print("{}: {} costs taken from StarPU's history\n", graph, done.from_starpu);
    if (!o.json)
      fmt::print("{}: {} implementations of kernels alone, {:.1f} s\n", graph, done.kernels.times.size(),
                 done.kernels.seconds);
    if (!local.calibration.trusted && local.calibration.runs > 0)
      fmt::print(stderr,
                 "espalier: warning: {}: other programs used the cores during {} of {} runs; the costs are "
                 "not kept\n",
                 graph, local.calibration.disturbed, local.calibration.runs);
    if (!o.json)
      fmt::print(
          "{}: {} kinds of tasks of batch {} in {} runs, {:.1f} s; sum within {:.2f} %, {:.2f} us a "
          "task beyond its kernel\n",
          graph, local.prepared.program->tasks.classes.size(), local.prepared.batch, local.calibration.runs,
          local.calibration.seconds, 100 * local.calibration.relative_error,
          1e6 * local.platform.kinds[0].task_overhead.value);
  }
  const auto file = cost_file(machine_identity(workers_for(o.lowering.cores), o.lowering.bf16)).string();
  if (o.json) {
    nlohmann::ordered_json j;
    j["file"] = file;
    j["machine"] = machine_identity(workers_for(o.lowering.cores), o.lowering.bf16);
    j["graphs"] = std::move(results);
    j["links"] = {{"measured", false}, {"why", kNoLinks}};
    fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("links: {}\ncosts in {}\n", kNoLinks, file);
  }
  if (interrupt_flag()) exit_code = interrupt_exit_code();
}

}  // namespace

void add_calibrate_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "calibrate",
      "Measure the kernels of networks and the cost of a task on this machine, for plans and predictions");
  command->footer(
      "Examples:\n"
      "  espalier calibrate --quick\n"
      "  espalier calibrate mobilenet_v2 inception_v3 --batch 16 --json");
  auto o = std::make_shared<CalibrateOptions>();
  command->add_option("GRAPH", o->graphs, "networks' names or .onnx files; default: resnet50");
  o->lowering.add_to(*command);
  command->add_option("--batch", o->batch, "samples of a run")
      ->capture_default_str()
      ->transform(whole_number(1, kMostBatch));
  command->add_option("--seed", o->seed, "of random inputs and weights")
      ->capture_default_str()
      ->transform(seed_number());
  command->add_option("--error", o->error, "per cent of the total time within which to measure")
      ->capture_default_str()
      ->transform(positive_number(100));
  command
      ->add_option(
          "--seconds", o->seconds,
          "at most, for each network's tasks, and again for its kernels; default: 60, with --quick 10")
      ->transform(positive_number(kMostSeconds));
  command->add_flag("--from-starpu", o->from_starpu,
                    "take over what StarPU's history models have collected, and measure only the rest");
  command->add_flag("--quick", o->quick, "fewer repetitions: under a minute");
  command->add_flag("--json", o->json, "print JSON");
  command->callback([o, &exit_code] {
    catch_interrupts();
    try {
      calibrate_all(*o, exit_code);
    } catch (const DeviceError&) {
      if (!interrupt_flag()) throw;
      exit_code = interrupt_exit_code();
    }
  });
}

}  // namespace espalier
