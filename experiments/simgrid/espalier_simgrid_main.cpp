#include <cstdio>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/starpu/simulated_run.hpp"
#include "schedulers/hybrid/plan_hints.hpp"
#include "schedulers/scheduler_list.hpp"

/// What espalier-simgrid does between SimGrid's start and end: reads a job, runs it, writes the outcome.
namespace espalier {
namespace {

simgrid::Outcome run_file(const char* path) {
  const simgrid::Job job = simgrid::job_from_json(read_file(path), path);
  std::unique_ptr<OnlinePolicy> online;
  if (job.decision.kind == simgrid::Decision::Kind::online) {
    const SchedulerEntry& entry = scheduler_named(job.decision.name);
    if (entry.make_online == nullptr)
      throw InputError(fmt::format("{} makes plans and is no online policy", entry.name));
    online = entry.make_online();
  }
  if (const simgrid::Decision& d = job.decision;
      d.kind == simgrid::Decision::Kind::plan && d.mode != "strict" && has_unlike_workers(job.platform)) {
    Plan plan;
    plan.scheduler = d.name;
    plan.placements = d.placements;
    online = make_plan_hints(std::move(plan), d.mode != "order", d.mode != "allocation", job.platform);
  }
  return starpu::run_simulated(job, std::move(online));
}

}  // namespace

int espalier_simgrid(int argc, char** argv);

int espalier_simgrid(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr,
               "espalier-simgrid JOB.json OUTCOME.json: started by `espalier simulate --engine simgrid`, "
               "which writes "
               "the job and the simulated machine\n");
    return 2;
  }
  simgrid::Outcome outcome;
  try {
    outcome = run_file(argv[1]);
  } catch (const InputError& e) {
    outcome.error = e.what();
    outcome.wrong_input = true;
  } catch (const std::exception& e) {
    outcome.error = e.what();
  }
  try {
    write_file(argv[2], simgrid::outcome_to_json(outcome));
  } catch (const std::exception& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
  return 0;
}

}  // namespace espalier
