#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/run/run_network.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "graphs/ir/npy.hpp"
#include "layers/layer_list.hpp"
#include "runtime/platform/host_memory.hpp"
#include "runtime/starpu/starpu_info.hpp"
#include "runtime/trace/chrome_trace.hpp"

namespace espalier {
namespace {

struct Options {
  std::string graph, weights, scheduler = fmt::format("starpu:{}", starpu::kDefaultPolicy), engine = "starpu";
  std::string micro_batch = "auto", trace;
  std::vector<std::string> inputs, outputs, dims;
  std::int64_t batch = 0;
  int iterations = 10, warmup = 2;
  unsigned cores = 0;
  std::uint64_t seed = 0;
  double task_ms = 1;
  bool json = false, bf16 = false;
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

std::int64_t positive(const std::string& text, const std::string& what) {
  std::size_t used = 0;
  std::int64_t value = 0;
  try {
    value = std::stoll(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || value < 1)
    throw InputError(fmt::format("{} {}: a whole number of at least 1 is needed", what, text));
  return value;
}

RunRequest request_of(const Options& o, const Graph& network) {
  RunRequest r;
  r.batch = o.batch;
  r.iterations = o.iterations;
  r.warmup = o.warmup;
  r.machine.cores = o.cores;
  r.seed = o.seed;
  r.task_seconds = o.task_ms * 1e-3;
  r.kernels.allow_bf16 = o.bf16;
  r.stop = &interrupt_flag();
  const std::string prefix = "starpu:";
  if (o.engine != "starpu")
    throw InputError(
        fmt::format("--engine {}: run executes for real, on starpu; see espalier simulate", o.engine));
  if (o.scheduler.rfind(prefix, 0) != 0)
    throw InputError(fmt::format("--scheduler {}: starpu:NAME is needed, NAME one of {}", o.scheduler,
                                 fmt::join(starpu::available_policies(), ", ")));
  r.machine.policy = o.scheduler.substr(prefix.size());
  if (o.micro_batch != "auto") r.micro_batch = positive(o.micro_batch, "--micro-batch");
  for (const std::string& text : o.inputs) {
    const auto [name, file] = split(text, names_of(network, network.inputs), "input");
    r.inputs[name] = image_in_order(network, name, read_npy(file));
  }
  for (const std::string& text : o.dims) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw InputError(fmt::format("--dim {}: NAME=EXTENT is needed", text));
    r.dims[text.substr(0, equals)] = positive(text.substr(equals + 1), "--dim " + text);
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
  j["scheduler_seconds"] = r.last.makespan * static_cast<double>(r.workers) - r.last.busy();
  j["utilisation"] = utilisation;
  j["cost_sources"] = {{"measured_here", 1.0}};
  j["iterations"] = r.seconds;
  j["batch"] = r.batch;
  j["micro_batch"] = r.micro_batch;
  j["micro_batches"] = r.micro_batches;
  j["in_flight"] = r.slots;
  j["tasks"] = r.program->tasks.task_count();
  j["workers"] = r.workers;
  j["preparation_seconds"] = r.preparation_seconds;
  if (!r.limitation.empty()) j["limitation"] = r.limitation;
  j["version"] = "0.1.0";
  j["starpu_version"] = starpu::starpu_info().version;
  j["seed"] = o.seed;
  j["platform"] = "local";
  j["options"] = {{"graph", o.graph},           {"scheduler", "starpu:" + r.policy},
                  {"batch", r.batch},           {"micro_batch", r.micro_batch},
                  {"iterations", o.iterations}, {"warmup", o.warmup},
                  {"cores", r.workers}};
  return j;
}

void print_text(const RunReport& r) {
  fmt::print("{} x {} samples in micro-batches of {}, {} in flight, {} tasks on {} workers, starpu:{}\n",
             r.seconds.size(), r.batch, r.micro_batch, r.slots, r.program->tasks.task_count(), r.workers,
             r.policy);
  fmt::print(
      "median {:.3f} ms, {:.1f} samples/s; {:.1f} % of the time lost between kernels; peak memory {}\n",
      r.median * 1e3, r.median > 0 ? static_cast<double>(r.batch) / r.median : 0, r.lost * 100,
      size_text(peak_memory()));
  if (!r.limitation.empty()) fmt::print("{}\n", r.limitation);
}

void execute(const Options& o, int& exit_code) {
  const NetworkSource source = load_network(o.graph, all_layers(), {o.weights, o.seed});
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
  if (o.json)
    fmt::print("{}\n", to_json(report, o).dump(2));
  else
    print_text(report);
  if (interrupt_flag()) exit_code = kInterrupted;
}

}  // namespace

void add_run_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("run", "Run a network on this machine's cores through StarPU");
  command->footer(
      "Examples:\n"
      "  espalier run resnet50 --batch 16\n"
      "  espalier run model.onnx --input x.npy --output y.npy --iterations 1 --warmup 0\n"
      "  espalier run lstm.onnx --dim T=50 --batch 8 --scheduler starpu:lws --json");
  auto o = std::make_shared<Options>();
  command->add_option("GRAPH", o->graph, "a network's name or an .onnx file")->required();
  command->add_option(
      "--weights", o->weights,
      "safetensors or PyTorch checkpoint of a named network; default: random ones of the seed");
  command->add_option("--scheduler", o->scheduler, "starpu:NAME, a policy of StarPU's own")
      ->capture_default_str();
  command->add_option("--engine", o->engine, "starpu")->capture_default_str();
  command->add_option("--batch", o->batch, "samples of an iteration; default: that of the inputs, else 1")
      ->check(CLI::PositiveNumber);
  command->add_option("--micro-batch", o->micro_batch, "samples of a task, or auto")->capture_default_str();
  command->add_option("--iterations", o->iterations, "measured runs")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--warmup", o->warmup, "runs before these")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--cores", o->cores, "workers; default: every core")->check(CLI::PositiveNumber);
  command->add_option(
      "--input", o->inputs,
      "[NAME=]FILE.npy; what is left out is drawn at random; a named network takes images as [N, H, W, 3] or "
      "[N, 3, H, W]");
  command->add_option("--output", o->outputs, "[NAME=]FILE.npy to write");
  command->add_option("--dim", o->dims, "NAME=EXTENT of a symbolic dimension");
  command->add_option("--trace", o->trace, "file for the run's events, to be opened in Perfetto");
  command->add_option("--seed", o->seed, "of random inputs and weights")->capture_default_str();
  command->add_option("--task-ms", o->task_ms, "how long a task should take, milliseconds")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_flag("--bf16", o->bf16, "allow bfloat16 arithmetic");
  command->add_flag("--json", o->json, "print JSON");
  command->callback([o, &exit_code] { execute(*o, exit_code); });
}

}  // namespace espalier
