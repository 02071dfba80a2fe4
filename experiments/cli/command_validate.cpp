#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <memory>
#include <unistd.h>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/simulate/engines.hpp"
#include "experiments/validation/engine_agreement.hpp"
#include "experiments/validation/validation.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/simgrid/simulate.hpp"

namespace espalier {
namespace {

struct Options {
  ValidationRequest request;
  std::vector<std::string> platforms{"local"};
  ProblemOptions problem;
  std::string out;
  bool json = false;
};

constexpr std::int64_t kLocalBatch = 16;

class Progress {
 public:
  void show(const std::string& what) const {
    if (terminal_) fmt::print(stderr, "\r\x1b[K{}", what);
  }
  void clear() const { show(""); }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
};

/// Engines that were not asked for are those of this build.
void choose_engines(std::vector<std::string>& engines) {
  if (!engines.empty()) {
    for (const std::string& e : engines) require_simulating_engine(e);
    if (std::find(engines.begin(), engines.end(), "simgrid") != engines.end()) simgrid::find_program();
    return;
  }
  engines = {"model", "simgrid"};
  try {
    simgrid::find_program();
  } catch (const InputError&) {
    engines.pop_back();
  }
}

void finish(const Options& o, const std::string& json, const std::string& text) {
  if (!o.out.empty()) write_file(o.out, json);
  fmt::print("{}", o.json ? json : text);
}

/// Real runs on this machine beside the engines' predictions.
bool validate_here(Options& o) {
  ValidationRequest& r = o.request;
  o.problem.platform = "local";
  for (const std::string& graph : r.graphs) {
    o.problem.graph = graph;
    o.problem.require_for_run("a validation on this machine");
  }
  choose_engines(r.engines);
  const int iterations = r.run.iterations;
  r.run = o.problem.run_request();
  r.run.iterations = iterations;
  if (r.run.batch == 0) r.run.batch = kLocalBatch;
  r.weights = o.problem.lowering.weights;
  r.blocks = std::min(r.blocks, iterations);
  r.run.stop = &interrupt_flag();
  const Progress progress;
  const Validation v = validate_engines(r, [&](const std::string& what) { progress.show(what); });
  progress.clear();
  finish(o, validation_to_json(v, r), validation_to_text(v));
  return !v.interrupted;
}

/// Engines against each other on machines that are not there.
bool validate_elsewhere(const Options& o) {
  if (!o.request.engines.empty() && o.request.engines != std::vector<std::string>{"model", "simgrid"})
    throw InputError(
        fmt::format("--engines {} on platform {}: there model and simgrid are set against each other",
                    fmt::join(o.request.engines, ","), o.platforms.front()));
  if (!(o.problem.lowering == LoweringArguments{}))
    throw InputError(
        "--weights, --micro-batch, --cores, --dim, --task-ms and --bf16 are for real runs, --platform "
        "local; accepted here are --batch and --micro-batches");
  simgrid::find_program();
  ComparisonRequest r;
  r.graphs = o.request.graphs;
  r.platforms = o.platforms;
  r.schedulers = schedulers_of(fmt::format("{}", fmt::join(o.request.schedulers, ",")));
  r.options = o.problem;
  const Progress progress;
  ComparisonWatcher watcher;
  watcher.on_start = [&](const ComparisonCase& c, const std::string& scheduler, std::size_t done,
                         std::size_t all) {
    progress.show(fmt::format("[{}/{}] {} on {}: {}", done + 1, all, c.how.graph, c.how.platform, scheduler));
  };
  watcher.stop = [] { return interrupt_flag().load(); };
  const EngineAgreements a = compare_engines(r, watcher);
  progress.clear();
  finish(o, agreements_to_json(a, r), agreements_to_text(a));
  return !a.interrupted;
}

void execute(Options& o, int& exit_code) {
  o.problem.require_sound();
  const bool here = std::find(o.platforms.begin(), o.platforms.end(), "local") != o.platforms.end();
  if (here && o.platforms.size() > 1)
    throw InputError("--platform local with others: real runs and simulated machines are validated apart");
  if (o.request.schedulers.empty())
    o.request.schedulers =
        here ? std::vector<std::string>{"starpu:lws",
                                        "starpu:dmdas",
                                        "lws",
                                        "heft_topcuoglu2002",
                                        "heft_topcuoglu2002/both",
                                        "one_worker"}
             : std::vector<std::string>{"dmdas", "lws", "heft_topcuoglu2002", "minmin", "eager"};
  catch_interrupts();
  if (!(here ? validate_here(o) : validate_elsewhere(o))) exit_code = interrupt_exit_code();
}

}  // namespace

void add_validate_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "validate",
      "How far predictions can be trusted: the same schedules for real and on the simulating engines");
  command->footer(
      "Examples:\n"
      "  espalier validate mobilenet_v2 --batch 16\n"
      "  espalier validate resnet50 inception_v3 lstm --batch 16 --schedulers "
      "starpu:lws,starpu:dmdas,heft_topcuoglu2002,heft_topcuoglu2002/both --iterations 20 --out v.json\n"
      "  espalier validate resnet50 inception_v3 --mode training --batch 32 --platform node-2cpu-4gpu");
  auto o = std::make_shared<Options>();
  o->request.run.iterations = 20;
  command->add_option("GRAPH", o->request.graphs, "networks' names or .onnx files")->required();
  command
      ->add_option("--schedulers", o->request.schedulers,
                   "names of `espalier list schedulers`, a static one with /allocation, /order or /both for "
                   "its plan as "
                   "hints; on this machine also starpu:NAME, one_worker, random_plan")
      ->delimiter(',');
  command
      ->add_option("--platform", o->platforms,
                   "local: real runs; others, as for compare: the engines against each other")
      ->allow_extra_args(false)
      ->capture_default_str();
  o->problem.add_common_to(*command);
  o->problem.lowering.add_to(*command);
  command
      ->add_option("--engines", o->request.engines,
                   "that predict: model, simgrid; default: both where simgrid is part of the build")
      ->delimiter(',');
  command->add_option("--iterations", o->request.run.iterations, "measured runs of each scheduler")
      ->capture_default_str()
      ->transform(whole_number(1, kMostRuns));
  command
      ->add_option("--rounds", o->request.blocks, "turns that calibration and each scheduler take for them")
      ->capture_default_str()
      ->transform(whole_number(1, kMostRuns));
  command->add_option("--out", o->out, "write the result as JSON");
  command->add_flag("--json", o->json, "print JSON");
  command->callback([o, &exit_code] { execute(*o, exit_code); });
}

}  // namespace espalier
