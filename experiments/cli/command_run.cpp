#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/run/lowering_arguments.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "graphs/ir/npy.hpp"
#include "layers/layer_list.hpp"
#include "runtime/platform/host_memory.hpp"
#include "runtime/starpu/starpu_info.hpp"
#include "runtime/trace/chrome_trace.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

struct Options {
  LoweringArguments lowering;
  std::string graph, scheduler, engine = "starpu", plan, hybrid, save_plan, trace;
  std::vector<std::string> inputs, outputs;
  std::int64_t batch = 0;
  int iterations = 10, warmup = 2;
  std::uint64_t seed = 0;
  double time_limit = 1;
  bool json = false, predict = false, recalibrate = false;
};

/// Splits NAME=VALUE. A single input or output needs no name.
std::pair<std::string, std::string> split(const std::string& text, const std::vector<std::string>& names,
                                          const char* what) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos &&
      std::find(names.begin(), names.end(), text.substr(0, equals)) != names.end())
    return {text.substr(0, equals), text.substr(equals + 1)};
  if (names.size() == 1 && equals == std::string::npos) return {names[0], text};
  std::string known;
  for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
  throw InputError(
      fmt::format("--{0} {1}: NAME=FILE is needed; the network's {0}s are {2}", what, text, known));
}

std::vector<std::string> names_of(const Graph& g, const std::vector<ValueId>& values) {
  std::vector<std::string> names;
  for (const ValueId v : values) names.push_back(g.values[static_cast<std::size_t>(v)].name);
  return names;
}

/// starpu:NAME, one of ours, or a plan.
void choose_scheduler(const Options& o, RunRequest& r) {
  const std::string prefix = "starpu:";
  if (!o.plan.empty() && !o.scheduler.empty())
    throw InputError("either --scheduler or --plan is accepted: the plan says who decided");
  r.plan_file = o.plan;
  r.hybrid = o.hybrid;
  if (!o.plan.empty()) return;
  if (o.scheduler.rfind(prefix, 0) == 0) {
    r.machine.policy = o.scheduler.substr(prefix.size());
  } else if (!o.scheduler.empty()) {
    try {
      static_cast<void>(scheduler_named(o.scheduler));
    } catch (const InputError& e) {
      throw InputError(fmt::format("{}; starpu:NAME is one of StarPU's own, NAME one of {}", e.what(),
                                   fmt::join(starpu::available_policies(), ", ")));
    }
    r.scheduler = o.scheduler;
  }
  if (r.scheduler.empty() && !o.hybrid.empty())
    throw InputError(fmt::format("--hybrid {}: a static scheduler or --plan is needed", o.hybrid));
  if (r.scheduler.empty() && !o.save_plan.empty())
    throw InputError(fmt::format("--save-plan {}: a static scheduler is needed, {} makes no plan",
                                 o.save_plan, "starpu:" + r.machine.policy));
}

RunRequest request_of(const Options& o, const Graph& network) {
  RunRequest r;
  r.batch = o.batch;
  r.iterations = o.iterations;
  r.warmup = o.warmup;
  r.seed = o.seed;
  r.stop = &interrupt_flag();
  r.time_limit = o.time_limit;
  r.predict = o.predict;
  r.recalibrate = o.recalibrate;
  o.lowering.apply(r);
  if (o.engine != "starpu")
    throw InputError(
        fmt::format("--engine {}: run executes for real, on starpu; see espalier simulate", o.engine));
  if (!(o.time_limit > 0) || !std::isfinite(o.time_limit))
    throw InputError(fmt::format("--time-limit {}: more than 0 seconds are needed", o.time_limit));
  choose_scheduler(o, r);
  for (const std::string& text : o.inputs) {
    const auto [name, file] = split(text, names_of(network, network.inputs), "input");
    r.inputs[name] = image_in_order(network, name, read_npy(file));
  }
  return r;
}

nlohmann::ordered_json to_json(const RunReport& r, const Options& o) {
  nlohmann::ordered_json utilisation, j;
  for (std::size_t w = 0; w < r.last.kernel_seconds.size(); ++w)
    utilisation[fmt::format("cpu{}", w)] =
        r.last.makespan > 0 ? r.last.kernel_seconds[w] / r.last.makespan : 0;
  const double best = r.bounds.best();
  j["engine"] = "starpu";
  j["makespan"] = r.median;
  j["bounds"] = {{"critical_path", r.bounds.critical_path}, {"area", r.bounds.area}, {"best", best}};
  j["gap"] = best > 0 ? r.median / best - 1 : 0;
  j["throughput"] = r.median > 0 ? static_cast<double>(r.batch) / r.median : 0;
  j["lost_between_kernels"] = r.lost;
  j["transfer_bytes"] = 0;
  j["peak_memory_bytes"] = {{"host", peak_memory()}};
  j["planned_memory_bytes"] = {{"buffers", r.program->buffer_bytes()},
                               {"inputs_and_outputs", r.program->io_bytes()},
                               {"constants", r.program->constant_bytes()}};
  if (r.predicted > 0) {
    j["predicted_makespan"] = r.predicted;
    j["prediction_error"] = r.predicted_error;
    j["calibration_runs"] = r.calibration_runs;
  }
  if (r.plan) j["planning_seconds"] = r.scheduler_seconds;
  j["scheduler"] = r.scheduler;
  j["scheduler_seconds"] = r.last.makespan * static_cast<double>(r.workers) - r.last.busy();
  j["utilisation"] = utilisation;
  j["cost_sources"] = {{"measured_here", 1.0}};
  j["iterations"] = r.seconds;
  j["disturbed_iterations"] = {{"repeated", r.repeated}, {"counted", r.disturbed}};
  j["batch"] = r.batch;
  j["micro_batch"] = r.micro_batch;
  j["micro_batches"] = r.micro_batches;
  j["in_flight"] = r.slots;
  j["tasks"] = r.program->tasks.task_count();
  j["workers"] = r.workers;
  j["preparation_seconds"] = r.preparation_seconds;
  if (!r.limitation.empty()) j["limitation"] = r.limitation;
  if (!r.uncut_because.empty()) j["uncut_because"] = r.uncut_because;
  j["version"] = "0.1.0";
  j["starpu_version"] = starpu::starpu_info().version;
  j["seed"] = o.seed;
  j["platform"] = "local";
  j["options"] = {{"graph", o.graph},           {"scheduler", r.scheduler},
                  {"batch", r.batch},           {"micro_batch", r.micro_batch},
                  {"iterations", o.iterations}, {"warmup", o.warmup},
                  {"cores", r.workers}};
  return j;
}

void print_text(const RunReport& r) {
  fmt::print("{} x {} samples in micro-batches of {}, {} in flight, {} tasks on {} workers, {}\n",
             r.seconds.size(), r.batch, r.micro_batch, r.slots, r.program->tasks.task_count(), r.workers,
             r.scheduler);
  if (r.seconds.empty()) return fmt::print("interrupted before the first measured run\n");
  fmt::print(
      "median {:.3f} ms, {:.1f} samples/s; {:.1f} % of the time lost between kernels; peak memory {}\n",
      r.median * 1e3, r.median > 0 ? static_cast<double>(r.batch) / r.median : 0, r.lost * 100,
      size_text(peak_memory()));
  if (r.predicted > 0)
    fmt::print("predicted {:.3f} ms on the model engine ({:+.1f} %)\n", r.predicted * 1e3,
               r.predicted_error * 100);
  if (r.repeated > 0)
    fmt::print("{} more iterations were passed over: other programs used the cores\n", r.repeated);
  if (r.disturbed > 0)
    fmt::print(
        "other programs used the cores during {} of the counted iterations: the times are not this "
        "machine's\n",
        r.disturbed);
  if (!r.limitation.empty()) fmt::print("{}\n", r.limitation);
  if (!r.uncut_because.empty()) fmt::print("the batch is not cut as asked for: {}\n", r.uncut_because);
}

void execute(const Options& o, int& exit_code) {
  const NetworkSource source = load_network(o.graph, all_layers(), {o.lowering.weights, o.seed});
  for (const std::string& warning : source.warnings) fmt::print(stderr, "espalier: warning: {}\n", warning);
  const Graph& network = source.graph;
  const RunRequest request = request_of(o, network);
  std::map<std::string, std::string> files;
  for (const std::string& text : o.outputs)
    files.insert(split(text, names_of(network, network.outputs), "output"));
  catch_interrupts();
  const RunReport report = run_network(network, all_layers(), request);
  if (!o.trace.empty())
    write_file(o.trace, to_chrome_trace(report.trace, report.program->tasks, report.platform));
  for (const auto& [name, file] : files) write_npy(file, report.outputs.at(name));
  if (!o.save_plan.empty()) {
    if (report.plan_json.empty() && !interrupt_flag())
      throw InputError(fmt::format("--save-plan {}: {} makes no plan", o.save_plan, report.scheduler));
    if (!report.plan_json.empty()) write_file(o.save_plan, report.plan_json);
  }
  if (o.json)
    fmt::print("{}\n", to_json(report, o).dump(2));
  else
    print_text(report);
  if (interrupt_flag()) exit_code = interrupt_exit_code();
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Run a network on this machine's cores through StarPU");
  command->footer(
      "Examples:\n"
      "  espalier run resnet50 --batch 16\n"
      "  espalier run model.onnx --input x.npy --output y.npy --iterations 1 --warmup 0\n"
      "  espalier run mobilenet_v2 --batch 16 --scheduler heft_topcuoglu2002 --save-plan plan.json --json\n"
      "  espalier run mobilenet_v2 --batch 16 --plan plan.json --hybrid both\n"
      "  espalier run lstm.onnx --dim T=50 --batch 8 --scheduler starpu:lws --json");
  auto o = std::make_shared<Options>();
  command->add_option("GRAPH", o->graph, "a network's name or an .onnx file")->required();
  o->lowering.add_to(*command);
  command->add_option(
      "--scheduler", o->scheduler,
      fmt::format("starpu:NAME, a policy of StarPU's own, or a name of `espalier list schedulers`; "
                  "default: starpu:{}",
                  starpu::kDefaultPolicy));
  command->add_option("--plan", o->plan, "carry out a plan.json of `espalier plan --for-run` or --save-plan");
  command->add_option("--hybrid", o->hybrid,
                      "take of the plan the allocation, the order, or both as hints; else it is strict");
  command->add_option("--save-plan", o->save_plan, "write the plan that was carried out");
  command->add_option("--time-limit", o->time_limit, "seconds that a searching scheduler may take")
      ->capture_default_str()
      ->transform(positive_number(kMostSeconds));
  command->add_flag("--predict", o->predict,
                    "the model engine's makespan beside StarPU's eager, lws, dmda, ...");
  command->add_flag("--recalibrate", o->recalibrate, "measure the tasks' times even where they are known");
  command->add_option("--engine", o->engine, "starpu")->capture_default_str();
  command->add_option("--batch", o->batch, "samples of an iteration; default: that of the inputs, else 1")
      ->transform(whole_number(1, kMostBatch));
  command->add_option("--iterations", o->iterations, "measured runs")
      ->capture_default_str()
      ->transform(whole_number(1, kMostRuns));
  command->add_option("--warmup", o->warmup, "runs before these")
      ->capture_default_str()
      ->transform(whole_number(0, kMostRuns));
  command->add_option(
      "--input", o->inputs,
      "[NAME=]FILE.npy; what is left out is drawn at random; a named network takes images as [N, H, W, 3] or "
      "[N, 3, H, W]");
  command->add_option("--output", o->outputs, "[NAME=]FILE.npy to write");
  command->add_option("--trace", o->trace, "file for the run's events, to be opened in Perfetto");
  command->add_option("--seed", o->seed, "of random inputs and weights")
      ->capture_default_str()
      ->transform(seed_number());
  command->add_flag("--json", o->json, "print JSON");
  command->callback([o, &exit_code] { execute(*o, exit_code); });
}

}  // namespace espalier
