#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <unistd.h>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/run/lowering_arguments.hpp"
#include "experiments/simulate/engines.hpp"
#include "experiments/validation/validation.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/simgrid/simulate.hpp"

namespace espalier {
namespace {

struct Options {
  ValidationRequest request;
  LoweringArguments lowering;
  std::string out;
  bool json = false;
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

void execute(Options& o, int& exit_code) {
  ValidationRequest& r = o.request;
  choose_engines(r.engines);
  if (!(r.run.time_limit > 0) || !std::isfinite(r.run.time_limit))
    throw InputError(fmt::format("--time-limit {}: more than 0 seconds are needed", r.run.time_limit));
  o.lowering.apply(r.run);
  r.weights = o.lowering.weights;
  r.blocks = std::min(r.blocks, r.run.iterations);
  r.run.stop = &interrupt_flag();
  catch_interrupts();
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  const Validation v = validate_engines(r, [&](const std::string& what) {
    if (terminal) fmt::print(stderr, "\r\x1b[K{}", what);
  });
  if (terminal) fmt::print(stderr, "\r\x1b[K");
  const std::string json = validation_to_json(v, r);
  if (!o.out.empty()) write_file(o.out, json);
  fmt::print("{}", o.json ? json : validation_to_text(v));
  if (v.interrupted) exit_code = interrupt_exit_code();
}

}  // namespace

void add_validate_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand(
      "validate", "Compare predicted with measured times of the same schedules on this machine");
  command->footer(
      "Examples:\n"
      "  espalier validate mobilenet_v2 --batch 16\n"
      "  espalier validate resnet50 inception_v3 lstm --batch 16 --schedulers "
      "starpu:lws,starpu:dmdas,heft_topcuoglu2002,heft_topcuoglu2002/both --iterations 20 --out v.json");
  auto o = std::make_shared<Options>();
  o->request.run.batch = 16;
  o->request.run.iterations = 20;
  o->request.schedulers = {
      "starpu:lws", "starpu:dmdas", "lws", "heft_topcuoglu2002", "heft_topcuoglu2002/both", "one_worker"};
  command->add_option("GRAPH", o->request.graphs, "networks' names or .onnx files")->required();
  command
      ->add_option(
          "--schedulers", o->request.schedulers,
          "starpu:NAME, names of `espalier list schedulers`, a static one with /allocation, /order or "
          "/both for its plan as hints, one_worker, random_plan")
      ->delimiter(',')
      ->capture_default_str();
  command
      ->add_option("--engines", o->request.engines,
                   "that predict: model, simgrid; default: both where simgrid is part of the build")
      ->delimiter(',');
  command->add_option("--batch", o->request.run.batch, "samples of a run")
      ->capture_default_str()
      ->transform(whole_number(1, kMostBatch));
  o->lowering.add_to(*command);
  command->add_option("--iterations", o->request.run.iterations, "measured runs of each scheduler")
      ->capture_default_str()
      ->transform(whole_number(1, kMostRuns));
  command
      ->add_option("--rounds", o->request.blocks, "turns that calibration and each scheduler take for them")
      ->capture_default_str()
      ->transform(whole_number(1, kMostRuns));
  command
      ->add_option("--time-limit", o->request.run.time_limit, "seconds that a searching scheduler may take")
      ->capture_default_str()
      ->transform(positive_number(kMostSeconds));
  command->add_option("--seed", o->request.run.seed, "of random inputs, weights and random_plan")
      ->capture_default_str()
      ->transform(seed_number());
  command->add_option("--out", o->out, "write the result as JSON");
  command->add_flag("--json", o->json, "print JSON");
  command->callback([o, &exit_code] { execute(*o, exit_code); });
}

}  // namespace espalier
