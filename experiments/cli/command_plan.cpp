#include <fmt/format.h>
#include <memory>

#include "experiments/cli/command_list.hpp"
#include "experiments/simulate/problem_options.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

struct PlanOptions {
  ProblemOptions problem;
  std::string scheduler, out;
  bool json = false;
};

void run_plan(const PlanOptions& o) {
  const SchedulerEntry& entry = scheduler_named(o.scheduler);
  if (entry.make_static == nullptr)
    throw InputError(fmt::format(
        "{} decides while the run goes on and makes no plan; `espalier simulate` runs it", entry.name));
  const LoadedProblem loaded = load_problem(o.problem);
  const SchedulingProblem problem = loaded.problem();
  const SimulationResult result = simulate_scheduler(problem, o.scheduler);
  validate(*result.plan, problem);
  const std::string text = plan_to_json(*result.plan, problem.graph, problem.platform);
  if (!o.out.empty()) write_file(o.out, text);
  if (o.json && o.out.empty()) {
    fmt::print("{}", text);
    return;
  }
  const SimulationSummary summary = summarise(problem, result.trace, lower_bounds(problem));
  if (o.json) {
    fmt::print("{}", result_to_json(problem, result, summary, o.problem.reproduction(problem.graph)));
    return;
  }
  fmt::print("{}", result_to_text(problem, result, summary));
  if (result.plan->proven_optimal) fmt::print("the plan is proven optimal\n");
  if (!o.out.empty()) fmt::print("plan in {}\n", o.out);
}

}  // namespace

void add_plan_command(CLI::App& app, int&) {
  auto o = std::make_shared<PlanOptions>();
  CLI::App* command =
      app.add_subcommand("plan", "Who runs which task when: a plan that every engine carries out");
  o->problem.add_to(*command);
  o->problem.add_for_run_to(*command);
  command->add_option("--scheduler", o->scheduler, "a static one of `espalier list schedulers`")->required();
  command->add_option("--out", o->out, "write the plan here as JSON");
  command->add_flag("--json", o->json, "print the plan, or with --out the result, as JSON");
  command->footer(
      "Examples:\n  espalier plan graph.dot --platform identical:2 --scheduler heft_topcuoglu2002 --out "
      "plan.json\n  espalier plan mobilenet_v2 --batch 16 --platform local --for-run --scheduler "
      "heft_topcuoglu2002 --out plan.json");
  command->callback([o] { run_plan(*o); });
}

}  // namespace espalier
