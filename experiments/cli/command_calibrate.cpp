#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/run/local_problem.hpp"
#include "experiments/run/lowering_arguments.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

struct CalibrateOptions {
  LoweringArguments lowering;
  std::vector<std::string> graphs;
  std::int64_t batch = 16;
  std::uint64_t seed = 0;
  double error = 1, seconds = 0;
  bool quick = false, json = false;
};

nlohmann::ordered_json to_json(const LocalProblem& local, const std::string& graph) {
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
  return j;
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
    const NetworkSource source = load_network(graph, all_layers(), {o.lowering.weights, o.seed});
    const LocalProblem local = load_local_problem(source.graph, all_layers(), request);
    results.push_back(to_json(local, graph));
    if (!local.calibration.trusted)
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
    fmt::print("{}\n", j.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  } else {
    fmt::print("costs in {}\n", file);
  }
  if (interrupt_flag()) exit_code = kInterrupted;
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
      ->check(CLI::PositiveNumber);
  command->add_option("--seed", o->seed, "of random inputs and weights")->capture_default_str();
  command->add_option("--error", o->error, "per cent of the total time within which to measure")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--seconds", o->seconds, "at most, for each network; default: 60, with --quick 10")
      ->check(CLI::PositiveNumber);
  command->add_flag("--quick", o->quick, "fewer repetitions: under a minute");
  command->add_flag("--json", o->json, "print JSON");
  command->callback([o, &exit_code] {
    catch_interrupts();
    try {
      calibrate_all(*o, exit_code);
    } catch (const DeviceError&) {
      if (!interrupt_flag()) throw;
      exit_code = kInterrupted;
    }
  });
}

}  // namespace espalier
