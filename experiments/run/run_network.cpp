#include "experiments/run/run_network.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <fmt/format.h>

#include "experiments/calibrate/median.hpp"
#include "experiments/run/local_problem.hpp"
#include "experiments/run/measured_runs.hpp"
#include "experiments/run/prediction.hpp"
#include "experiments/run/prepare_program.hpp"
#include "experiments/run/real_scheduler.hpp"
#include "experiments/simulate/simulation.hpp"
#include "graphs/base/error.hpp"
#include "runtime/plan/plan_json.hpp"
#include "runtime/platform/host_memory.hpp"
#include "runtime/starpu/network_session.hpp"

namespace espalier {
namespace {

Platform platform_of(unsigned workers) {
  Platform platform;
  platform.name = "local";
  DeviceKind kind;
  kind.name = "cpu-core";
  platform.kinds.push_back(kind);
  platform.memories.emplace_back().name = "host";
  for (unsigned w = 0; w < workers; ++w) platform.workers.push_back({fmt::format("cpu{}", w), 0, 0});
  return platform;
}

/// Bounds for the times measured in a trace, each class at its mean.
Bounds measured_bounds(const NetworkProgram& program, const Trace& trace, const Platform& platform) {
  std::vector<double> sum(program.tasks.classes.size(), 0), count(sum.size(), 0);
  for (const TaskEvent& e : trace.tasks) {
    sum[program.tasks.task(e.task).cost_class] += e.end - e.start;
    count[program.tasks.task(e.task).cost_class] += 1;
  }
  CostTable costs(sum.size(), 1);
  for (CostClass c = 0; c < sum.size(); ++c)
    costs.set(c, 0, Seconds(count[c] > 0 ? sum[c] / count[c] : 0), CostSource::measured_here);
  return lower_bounds({program.tasks, platform, costs});
}

/// Runs the iterations and keeps the trace and statistics of the one that took the median time.
void measure(starpu::NetworkSession& session, const RunRequest& request, RunReport& report) {
  std::vector<double> lost;
  MeasuredRuns runs = measured_runs(session, request.warmup, request.iterations);
  report.repeated = runs.repeated;
  report.disturbed = runs.disturbed;
  std::vector<MeasuredRun>& all = runs.kept;
  for (const MeasuredRun& m : all) {
    report.seconds.push_back(m.statistics.makespan);
    lost.push_back(m.statistics.lost());
  }
  report.median = median_interval(report.seconds).median;
  report.lost = median_interval(lost).median;
  if (all.empty()) return;
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (std::abs(report.seconds[i] - report.median) < std::abs(report.seconds[nearest] - report.median))
      nearest = i;
  report.last = all[nearest].statistics;
  report.trace = std::move(all[nearest].trace);
}

}  // namespace

std::int64_t choose_micro_batch(std::int64_t batch, unsigned workers, std::int64_t weight_bytes) {
  constexpr std::int64_t kBytesOfASample = 12'000'000, kMost = 8;
  const std::int64_t share = std::max<std::int64_t>(1, batch / std::max(1U, workers));
  const std::int64_t wanted = std::clamp<std::int64_t>(weight_bytes / kBytesOfASample, 1, kMost);
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::min(wanted, share))));
}

double choose_task_seconds(std::size_t micro_batches, unsigned workers) {
  return micro_batches >= workers ? 4e-3 : 0.5e-3;
}

std::int64_t weight_bytes(const Graph& graph) {
  std::int64_t sum = 0;
  for (const Value& v : graph.values)
    if (v.constant) sum += v.constant->bytes();
  return sum;
}

namespace {

/// Chooses who decides, plans and predicts; false after an interruption.
bool prepare_schedule(starpu::NetworkSession& session, const PreparedProgram& prepared,
                      const RunRequest& request, std::optional<LocalProblem>& local, RealScheduler& real,
                      RunReport& report) {
  const bool own = !request.scheduler.empty() || !request.plan_file.empty();
  const std::string twin = own || !request.predict ? std::string() : model_twin(request.machine.policy);
  if (!own && twin.empty()) return true;
  local = make_local_problem(prepared, session, request);
  if (!local) return false;
  report.calibration_runs = local->calibration.runs;
  if (!own) {
    report.predicted =
        predicted_makespan(*local, [&](const SchedulingProblem& p, const SimulationOptions& o) {
          return simulate_scheduler(p, twin, o).trace;
        });
    return true;
  }
  real = make_real_scheduler(*local, request);
  session.set_driver(real.driver.get());
  report.scheduler = real.driver->name() + (request.hybrid.empty() ? "" : "/" + request.hybrid);
  report.predicted = real.predicted;
  report.scheduler_seconds = real.scheduler_seconds;
  report.plan = real.plan;
  if (real.plan) report.plan_json = plan_to_json(*real.plan, prepared.program->tasks, local->platform);
  return true;
}

}  // namespace

RunReport run_network(const Graph& network, const LayerTable& layers, const RunRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  const PreparedProgram prepared = prepare_program(network, layers, request);
  RunReport report;
  report.program = prepared.program;
  report.batch = prepared.batch;
  report.micro_batch = prepared.micro_batch;
  report.micro_batches = prepared.micro_batches;
  report.uncut_because = prepared.uncut_because;
  report.slots = report.program->slots;

  starpu::MachineOptions machine_options = request.machine;
  const bool own = !request.scheduler.empty() || !request.plan_file.empty();
  if (own) machine_options.policy = starpu::kOwnPolicy;
  starpu::Machine machine(machine_options);
  report.workers = machine.workers();
  report.policy = machine.policy();
  report.scheduler = "starpu:" + machine.policy();
  report.limitation = machine.limitation();
  starpu::SessionOptions options;
  options.kernels = request.kernels;
  options.record_trace = true;
  options.stop = request.stop;
  starpu::NetworkSession session(machine, report.program, layers, options);
  give_inputs(session, request);
  give_costs_to_starpu(prepared, machine, request);
  std::optional<LocalProblem> local;
  RealScheduler real;
  const bool scheduled = prepare_schedule(session, prepared, request, local, real, report);
  report.preparation_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (scheduled) measure(session, request, report);
  if (report.predicted > 0 && report.median > 0)
    report.predicted_error = report.predicted / report.median - 1;
  report.platform = platform_of(report.workers);
  report.bounds = measured_bounds(*report.program, report.trace, report.platform);
  const Graph& g = *report.program->variants[0].graph;
  for (std::size_t k = 0; k < g.outputs.size(); ++k)
    report.outputs[g.values[static_cast<std::size_t>(g.outputs[k])].name] = session.output(k);
  session.set_driver(nullptr);
  return report;
}

}  // namespace espalier
