#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/compare/comparison.hpp"
#include "experiments/report/report.hpp"
#include "experiments/workloads/platform_choice.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

struct CompareOptions {
  ComparisonRequest request;
  std::string schedulers = "all", report, json, csv, traces;
  std::vector<std::string> real;
};

/// `--platform P GRAPH` and `--json GRAPH` are what people write: values behind the first that are none of
/// the option's belong to GRAPH.
void sort_out(CompareOptions& o) {
  auto& r = o.request;
  for (std::size_t i = 1; i < r.platforms.size();)
    if (looks_like_platform(r.platforms[i])) {
      ++i;
    } else {
      r.graphs.push_back(r.platforms[i]);
      r.platforms.erase(r.platforms.begin() + static_cast<std::ptrdiff_t>(i));
    }
  if (!o.json.empty() && o.json != "-" && std::filesystem::path(o.json).extension() != ".json") {
    r.graphs.push_back(o.json);
    o.json = "-";
  }
  if (r.graphs.empty())
    throw InputError(
        "compare needs at least one GRAPH: a network, an .onnx or task-graph file, or a generator");
}

/// Refuses a result's path before the work starts.
void require_writable(const std::string& path, const char* option) {
  namespace fs = std::filesystem;
  if (path.empty() || path == "-") return;
  std::error_code error;
  if (fs::is_directory(path, error))
    throw InputError(fmt::format("{} {}: is a folder, the name of a file is needed", option, path));
  fs::path folder = fs::path(path).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error))
    throw InputError(fmt::format("{} {}: the folder {} does not exist", option, path, folder.string()));
  if (::access(folder.c_str(), W_OK) != 0)
    throw InputError(fmt::format("{} {}: the folder {} is not writable", option, path, folder.string()));
}

void require_folder(const std::string& path) {
  if (path.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path) || ::access(path.c_str(), W_OK) != 0)
    throw InputError(fmt::format("--traces {}: a folder that can be written is needed", path));
}

std::string quoted(const std::string& text) {
  if (!text.empty() &&
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+.,:/=@%") ==
          std::string::npos)
    return text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string real_options_of(const ComparisonRequest& r) {
  const LoweringArguments& l = r.options.lowering;
  std::string out = fmt::format(" --iterations {} --rounds {}", r.iterations, r.rounds);
  if (!l.weights.empty()) out += " --weights " + quoted(l.weights);
  if (l.micro_batch != "auto") out += " --micro-batch " + l.micro_batch;
  if (l.cores > 0) out += fmt::format(" --cores {}", l.cores);
  for (const std::string& d : l.dims) out += " --dim " + quoted(d);
  if (l.task_ms > 0) out += fmt::format(" --task-ms {}", l.task_ms);
  return l.bf16 ? out + " --bf16" : out;
}

/// Without the names of the results' files, which play no part in them.
std::string command_of(const CompareOptions& o) {
  const ProblemOptions& p = o.request.options;
  std::string out = "espalier compare";
  for (const std::string& g : o.request.graphs) out += " " + quoted(g);
  for (const std::string& name : o.request.platforms) out += " --platform " + quoted(name);
  out += " --schedulers " + quoted(o.schedulers);
  if (o.request.engines != std::vector<std::string>{"model"})
    out += fmt::format(" --engines {}", fmt::join(o.request.engines, ","));
  if (!p.mode.empty()) out += " --mode " + p.mode;
  if (p.batch > 0) out += fmt::format(" --batch {}", p.batch);
  if (p.micro_batches > 1) out += fmt::format(" --micro-batches {}", p.micro_batches);
  if (p.replicas > 0) out += fmt::format(" --replicas {}", p.replicas);
  if (p.split > 1) out += fmt::format(" --split {}", p.split);
  if (!p.model_parallel.empty()) out += " --model-parallel " + p.model_parallel;
  if (o.request.real_runs()) out += real_options_of(o.request);
  return out + fmt::format(" --seed {} --time-limit {}", p.seed, p.time_limit);
}

/// SCHEDULER=SECONDS, or a result of `espalier run --json` that names its scheduler.
void read_real(const std::string& text, std::map<std::string, double>& real) {
  const std::size_t equals = text.find('=');
  if (equals != std::string::npos) {
    std::string seconds = text.substr(equals + 1);
    if (const std::string refusal = positive_number(kMostSeconds)(seconds); !refusal.empty())
      throw InputError(fmt::format("--real {}: SCHEDULER=SECONDS is needed: {}", text, refusal));
    real[text.substr(0, equals)] = std::stod(seconds);
    return;
  }
  const auto json = nlohmann::json::parse(read_file(text), nullptr, false);
  if (!json.is_object() || !json.contains("scheduler") || !json["scheduler"].is_string() ||
      !json.contains("makespan") || !json["makespan"].is_number() || !(json["makespan"].get<double>() > 0))
    throw InputError(fmt::format(
        "--real {}: is no result of a run: JSON with \"scheduler\" and \"makespan\" is needed", text));
  real[json["scheduler"].get<std::string>()] = json["makespan"].get<double>();
}

/// Which scheduler is at work, drawn over on a terminal.
class Progress {
 public:
  ~Progress() { clear(); }
  void show(const ComparisonCase& c, const std::string& scheduler, std::size_t done, std::size_t all) {
    if (!terminal_) return;
    fmt::print(stderr, "\r\x1b[K[{}/{}] {} on {}: {}", done + 1, all, c.how.graph, c.how.platform, scheduler);
    std::fflush(stderr);
    drawn_ = true;
  }
  void show(const std::string& what, const std::string& state) {
    if (!terminal_) return;
    fmt::print(stderr, "\r\x1b[K{}: {}", what, state);
    std::fflush(stderr);
    drawn_ = true;
  }
  void clear() {
    if (drawn_) fmt::print(stderr, "\r\x1b[K");
    drawn_ = false;
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1, drawn_ = false;
};

void check(CompareOptions& o) {
  sort_out(o);
  o.request.options.require_sound();
  o.request.schedulers = schedulers_of(o.schedulers);
  require_engines(o.request);
  for (const std::string& r : o.real) read_real(r, o.request.real_makespans);
  require_writable(o.report, "--report");
  require_writable(o.json, "--json");
  require_writable(o.csv, "--csv");
  require_folder(o.traces);
}

void run_compare(CompareOptions& o, int& exit_code) {
  check(o);
  catch_interrupts();
  Progress progress;
  ComparisonWatcher watcher;
  watcher.on_start = [&](const ComparisonCase& c, const std::string& scheduler, std::size_t done,
                         std::size_t all) { progress.show(c, scheduler, done, all); };
  if (!o.traces.empty())
    watcher.on_result = [&](const ComparisonCase& c, const SimulationResult& result) {
      write_traces(o.traces, c, result);
    };
  watcher.on_real_runs = [&](const std::string& what) { progress.show("real runs", what); };
  o.request.interrupt = &interrupt_flag();
  watcher.stop = [] { return interrupt_flag().load(); };
  Comparison comparison = compare(o.request, watcher);
  comparison.command = command_of(o);
  progress.clear();
  if (!o.report.empty()) write_file(o.report, comparison_to_html(comparison));
  if (!o.csv.empty()) write_file(o.csv, comparison_to_csv(comparison));
  if (o.json == "-") {
    fmt::print("{}", comparison_to_json(comparison));
  } else {
    if (!o.json.empty()) write_file(o.json, comparison_to_json(comparison));
    fmt::print("{}", comparison_to_text(comparison));
    if (!o.report.empty()) fmt::print("report in {}\n", o.report);
  }
  if (comparison.interrupted) {
    fmt::print(stderr, "espalier: interrupted: the results are those of the schedulers that had ended\n");
    exit_code = kDoneInPart;
  }
}

}  // namespace

void add_compare_command(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Every scheduler on the same graphs and machines: who wins, and why");
  o->request.engines = {"model"};
  command->add_option("GRAPH", o->request.graphs,
                      "networks, .onnx files, task-graph files, or generators as cholesky:20");
  command
      ->add_option(
          "--platform", o->request.platforms,
          "names of `espalier list platforms`, .yaml files, identical:P, local, or calibrated StarPU "
          "machines (mirage, DIR:HOST)")
      ->required();
  command
      ->add_option(
          "--schedulers", o->schedulers,
          "all, or names with commas between them; a static one with /allocation, /order or /both for "
          "its plan as hints; starpu:NAME on engines simgrid and starpu")
      ->capture_default_str();
  command
      ->add_option(
          "--engines", o->request.engines,
          "model, simgrid, starpu (real runs; --platform local): the others are set against the first")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  o->request.options.add_common_to(*command);
  o->request.options.lowering.add_to(*command);
  command->add_option("--iterations", o->request.iterations, "engine starpu: measured runs of each scheduler")
      ->capture_default_str()
      ->transform(whole_number(1, kMostRuns));
  command
      ->add_option("--rounds", o->request.rounds,
                   "engine starpu: turns that calibration and each scheduler take for them")
      ->capture_default_str()
      ->transform(whole_number(1, kMostRuns));
  command->add_option("--report", o->report, "write a page (HTML, opens without network)");
  command->add_option("--json", o->json, "write JSON, or print it where no file is given")
      ->expected(0, 1)
      ->default_str("-");
  command->add_option("--csv", o->csv, "write a table with a row for each scheduler");
  command->add_option(
      "--traces", o->traces,
      "write traces of all executions into this folder: Perfetto, Paje, and the graph as DOT");
  command->add_option("--real", o->real,
                      "SCHEDULER=SECONDS of a real run, or its JSON: shows the prediction's error");
  command->footer(
      "Examples:\n  espalier compare cholesky:20 --platform node-2cpu-4gpu --report report.html\n"
      "  espalier compare resnet50 --mode training --batch 64 --platform dgx-1 --schedulers "
      "heft_topcuoglu2002,dmdas\n"
      "  espalier compare cholesky:20 --platform mirage --engines model,simgrid --schedulers dmdas,best\n"
      "  espalier compare mobilenet_v2 --batch 16 --platform local --engines model,simgrid,starpu "
      "--schedulers "
      "starpu:lws,heft_topcuoglu2002,heft_topcuoglu2002/both\n"
      "  espalier compare a.stg b.stg --platform identical:4 --platform identical:8 --json results.json");
  command->callback([o, &exit_code] { run_compare(*o, exit_code); });
}

}  // namespace espalier
