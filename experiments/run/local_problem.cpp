#include "experiments/run/local_problem.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"
#include "runtime/starpu/history.hpp"

namespace espalier {
namespace {

bool complete(const MeasuredCosts& costs, const TaskGraph& graph) {
  return costs.overhead.measured &&
         std::all_of(graph.classes.begin(), graph.classes.end(),
                     [&](const CostClassInfo& c) { return costs.find(c) != nullptr; });
}

MachineIdentity identity_of(const PreparedProgram& prepared, const RunRequest& request) {
  return machine_identity(prepared.workers, request.kernels.allow_bf16);
}

/// Says on the error stream, once, why a file of costs is not used; they are measured again.
MeasuredCosts trusted_costs(const MachineIdentity& identity, const RunRequest& request) {
  static std::string said;
  if (request.recalibrate) return {};
  std::string reason;
  MeasuredCosts costs = load_costs(identity, &reason);
  if (!reason.empty() && reason != said)
    fmt::print(stderr, "espalier: {}; they are measured again\n", reason);
  said = reason;
  return costs;
}

/// How much longer all tasks of the graph take now than the costs say, as a share.
double drift(const MeasuredCosts& costs, const MeasuredCosts& now, const TaskGraph& graph) {
  double before = 0, after = 0;
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    const MeasuredCost *a = costs.find(graph.class_of(t)), *b = now.find(graph.class_of(t));
    if (a == nullptr || b == nullptr) continue;
    before += a->seconds;
    after += b->seconds;
  }
  return before > 0 ? after / before - 1 : 0;
}

/// Complete costs of the cache, looked at again with a few runs: frequency and neighbours of a machine
/// change. Nothing is measured when they still hold or other programs leave no undisturbed run.
bool still_hold(const MeasuredCosts& costs, starpu::NetworkSession& session, CalibrationResult& check) {
  constexpr double kMost = 0.02;
  check = calibrate(session, {.relative_error = 1, .max_seconds = 1, .min_runs = 4});
  if (check.interrupted || !check.trusted) return true;
  return std::abs(drift(costs, check.costs, session.program().tasks)) <= kMost;
}

}  // namespace

LocalProblem assemble_local_problem(const PreparedProgram& prepared, const MeasuredCosts& costs,
                                    const RunRequest& request) {
  LocalProblem local;
  local.prepared = prepared;
  local.platform = run_platform(prepared.workers, costs.overhead.seconds);
  const CostModel* models[] = {&costs};
  local.costs = make_cost_table(prepared.program->tasks, local.platform, models);
  local.costs.require_runnable(prepared.program->tasks, local.platform);
  local.run_overhead = costs.run_overhead;
  local.deviation = costs.deviation;
  local.seed = request.seed;
  local.time_limit = Seconds(request.time_limit);
  return local;
}

Platform run_platform(unsigned workers, double task_overhead) {
  const Platform machine = local_platform();
  Platform platform;
  platform.name = "local";
  DeviceKind kind = machine.kinds[machine.workers[0].kind];
  kind.task_overhead = Seconds(task_overhead);
  platform.kinds.push_back(kind);
  platform.memories.push_back(machine.memories[0]);
  for (unsigned w = 0; w < workers; ++w) platform.workers.push_back({fmt::format("cpu{}", w), 0, 0});
  return platform;
}

void give_inputs(starpu::NetworkSession& session, const RunRequest& request) {
  const Graph& g = *session.program().variants[0].graph;
  for (std::size_t k = 0; k < g.inputs.size(); ++k) {
    const std::string& name = g.values[static_cast<std::size_t>(g.inputs[k])].name;
    const auto given = request.inputs.find(name);
    session.set_input(k, given != request.inputs.end()
                             ? given->second
                             : random_tensor(session.input_type(k), request.seed + k));
  }
}

std::optional<LocalProblem> make_local_problem(const PreparedProgram& prepared,
                                               starpu::NetworkSession& session, const RunRequest& request) {
  const MachineIdentity identity = identity_of(prepared, request);
  MeasuredCosts costs = trusted_costs(identity, request);
  CalibrationResult calibration;
  const bool known = complete(costs, prepared.program->tasks);
  if (!known || !still_hold(costs, session, calibration)) {
    calibration = calibrate(session, request.calibration);
    // what other programs disturbed is used where there is nothing better, and not kept
    if (calibration.trusted) save_costs(calibration.costs, identity);
    if (calibration.trusted || !known) costs.merge(calibration.costs);
  }
  if (calibration.interrupted) return std::nullopt;
  LocalProblem local = assemble_local_problem(prepared, costs, request);
  local.calibration = std::move(calibration);
  return local;
}

void give_costs_to_starpu(const PreparedProgram& prepared, starpu::Machine& machine,
                          const RunRequest& request) {
  const std::string& policy = machine.policy();
  if (!policy.starts_with("dm") && !policy.starts_with("pheft") && !policy.starts_with("modular-heft"))
    return;
  const MeasuredCosts costs = trusted_costs(identity_of(prepared, request), request);
  std::vector<starpu::HistoryTime> times;
  for (const CostClassInfo& c : prepared.program->tasks.classes)
    if (const MeasuredCost* cost = costs.find(c)) times.push_back({c.codelet, c.footprint, cost->seconds});
  starpu::give_history(machine, times);
}

LocalProblem load_local_problem(const Graph& network, const LayerTable& layers, const RunRequest& request) {
  const PreparedProgram prepared = prepare_program(network, layers, request);
  const MachineIdentity identity = identity_of(prepared, request);
  if (const MeasuredCosts costs = trusted_costs(identity, request); complete(costs, prepared.program->tasks))
    return assemble_local_problem(prepared, costs, request);
  starpu::Machine machine({std::string(starpu::kOwnPolicy), request.machine.cores});
  starpu::SessionOptions options;
  options.kernels = request.kernels;
  options.record_trace = true;
  options.stop = request.stop;
  starpu::NetworkSession session(machine, prepared.program, layers, options);
  give_inputs(session, request);
  auto local = make_local_problem(prepared, session, request);
  if (!local) throw DeviceError("calibration was interrupted");
  return *std::move(local);
}

}  // namespace espalier