#include <fmt/format.h>
#include <memory>

#include "experiments/cli/command_list.hpp"
#include "experiments/cli/interrupt.hpp"
#include "experiments/cli/number.hpp"
#include "experiments/simulate/engines.hpp"
#include "experiments/simulate/problem_options.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/simgrid/simulate.hpp"
#include "runtime/trace/chrome_trace.hpp"

namespace espalier {
namespace {

struct SimulateOptions {
  ProblemOptions problem;
  std::string scheduler, plan, trace, hybrid, engine = "model";
  double noise = 0;
  bool json = false, no_contention = false, no_prefetch = false;
};

/// Signals are caught from the child's start on: before it they may end us as usual, nothing is to be
/// cleaned up.
bool stopped() {
  static const bool caught = (catch_interrupts(), true);
  return caught && interrupt_flag();
}

SimulationResult run_one(const SimulateOptions& o, const LoadedProblem& loaded) {
  EngineOptions options;
  options.hybrid = o.hybrid;
  options.stop = stopped;
  options.model.contention = !o.no_contention;
  options.model.prefetch = !o.no_prefetch;
  options.model.duration_noise = o.noise;
  const SchedulingProblem problem = loaded.problem();
  if (o.plan.empty()) return run_scheduler(o.engine, loaded, o.scheduler, options);
  const PlanFile file = plan_from_json(read_file(o.plan), o.plan);
  require_target(file, problem.graph, problem.platform, o.plan);
  return run_plan(o.engine, loaded, file.plan, options);
}

void run_simulate(const SimulateOptions& o) {
  if (o.scheduler.empty() == o.plan.empty())
    throw InputError("either --scheduler or --plan is needed: who decides, and not both");
  require_simulating_engine(o.engine);
  if (o.engine != "model" && (o.noise != 0 || o.no_contention || o.no_prefetch))
    throw InputError("--noise, --no-contention and --no-prefetch go with --engine model");
  const LoadedProblem loaded = load_problem(o.problem);
  for (const std::string& w : loaded.warnings) fmt::print(stderr, "espalier: warning: {}\n", w);
  const SchedulingProblem problem = loaded.problem();
  const SimulationResult result = run_one(o, loaded);
  const SimulationSummary summary = summarise(problem, result.trace, lower_bounds(problem));
  if (!o.trace.empty()) write_file(o.trace, to_chrome_trace(result.trace, problem.graph, problem.platform));
  fmt::print("{}", o.json ? result_to_json(problem, result, summary, o.problem.reproduction(problem.graph))
                          : result_to_text(problem, result, summary));
}

}  // namespace

void add_simulate_command(CLI::App& app, int& exit_code) {
  auto o = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "Run a graph in virtual time on a machine that need not be there");
  o->problem.add_to(*command);
  o->problem.add_for_run_to(*command);
  command->add_option(
      "--scheduler", o->scheduler,
      "a name of `espalier list schedulers`, or with --engine simgrid starpu:NAME, a policy of StarPU's own");
  command->add_option("--hybrid", o->hybrid, "the plan as hints: allocation, order or both");
  command->add_option("--plan", o->plan, "carry out a plan.json instead");
  command->add_option("--engine", o->engine, "model, or simgrid: StarPU itself on SimGrid")
      ->capture_default_str();
  command->add_option("--trace", o->trace, "write a trace that Perfetto opens");
  command->add_option("--noise", o->noise, "relative standard deviation of task times")
      ->capture_default_str()
      ->transform(number(0, 10));
  command->add_flag("--no-contention", o->no_contention, "each transfer has its route alone");
  command->add_flag("--no-prefetch", o->no_prefetch, "data move only when a worker turns to the task");
  command->add_flag("--json", o->json, "print JSON");
  command->footer(
      "Examples:\n  espalier simulate graph.stg --platform identical:4 --scheduler heft_topcuoglu2002\n"
      "  espalier simulate cholesky:20 --platform dgx-1 --scheduler dmdas --trace t.json\n"
      "  espalier simulate graph.stg --platform identical:4 --plan plan.json --json\n"
      "  espalier simulate cholesky:20 --platform mirage --engine simgrid --scheduler starpu:dmdas\n"
      "  espalier simulate mobilenet_v2 --batch 16 --platform local --for-run --plan plan.json");
  command->callback([o, &exit_code] {
    try {
      run_simulate(*o);
    } catch (const simgrid::Stopped&) {
      exit_code = interrupt_exit_code();
    }
  });
}

}  // namespace espalier
