#include "experiments/run/local_problem.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"

namespace espalier {
namespace {

bool complete(const MeasuredCosts& costs, const TaskGraph& graph) {
  return costs.task_overhead > 0 &&
         std::all_of(graph.classes.begin(), graph.classes.end(),
                     [&](const CostClassInfo& c) { return costs.find(c) != nullptr; });
}

MachineIdentity identity_of(const PreparedProgram& prepared, const RunRequest& request) {
  return machine_identity(prepared.workers, request.kernels.allow_bf16);
}

LocalProblem assemble(const PreparedProgram& prepared, const MeasuredCosts& costs,
                      const RunRequest& request) {
  LocalProblem local;
  local.prepared = prepared;
  local.platform = run_platform(prepared.workers, costs.task_overhead);
  const CostModel* models[] = {&costs};
  local.costs = make_cost_table(prepared.program->tasks, local.platform, models);
  local.costs.require_runnable(prepared.program->tasks, local.platform);
  local.seed = request.seed;
  local.time_limit = Seconds(request.time_limit);
  return local;
}

}  // namespace

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
  MeasuredCosts costs = request.recalibrate ? MeasuredCosts{} : load_costs(identity);
  CalibrationResult calibration;
  if (!complete(costs, prepared.program->tasks)) {
    calibration = calibrate(session, request.calibration);
    if (calibration.interrupted) return std::nullopt;
    save_costs(calibration.costs, identity);
    costs.merge(calibration.costs);
  }
  LocalProblem local = assemble(prepared, costs, request);
  local.calibration = std::move(calibration);
  return local;
}

LocalProblem load_local_problem(const Graph& network, const LayerTable& layers, const RunRequest& request) {
  const PreparedProgram prepared = prepare_program(network, layers, request);
  const MachineIdentity identity = identity_of(prepared, request);
  if (!request.recalibrate)
    if (const MeasuredCosts costs = load_costs(identity); complete(costs, prepared.program->tasks))
      return assemble(prepared, costs, request);
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
