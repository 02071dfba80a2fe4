#include "experiments/run/run_network.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/host_memory.hpp"
#include "runtime/starpu/network_session.hpp"
#include "runtime/task_graph/lower.hpp"
#include "runtime/task_graph/micro_batches.hpp"
#include "runtime/task_graph/segment.hpp"

namespace espalier {
namespace {

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

constexpr double kUnitSeconds = 0.3e-3;  ///< a micro-batch shorter than this is mostly the runtime's work

/// The size that makes a micro-batch of `samples` samples and `seconds` long enough, every worker still
/// having one.
std::int64_t enlarged(std::int64_t samples, double seconds, std::int64_t batch, unsigned workers) {
  const double factor = std::ceil(kUnitSeconds / std::max(seconds, 1e-9));
  const std::int64_t share = (batch + workers - 1) / std::max(1U, workers);
  return std::max(samples, factor >= static_cast<double>(share)
                               ? share
                               : std::min(share, samples * static_cast<std::int64_t>(factor)));
}

/// Cuts the network; a size of 0 is chosen by the time of a micro-batch.
MicroBatches cut_with(const Graph& network, const LayerTable& layers, const RunRequest& request,
                      const Binding& binding, std::int64_t batch) {
  const bool chosen = request.micro_batch == 0;
  const std::int64_t first = chosen ? choose_micro_batch(batch, request.machine.cores) : request.micro_batch;
  MicroBatches cut = cut_batch(network, layers, binding, batch, first);
  if (!chosen || cut.units.size() <= request.machine.cores) return cut;
  double seconds = 0;
  for (const double s : estimate_node_seconds(*cut.variants[0].graph, layers, first, {})) seconds += s;
  const std::int64_t larger = enlarged(first, seconds, batch, request.machine.cores);
  return larger > first ? cut_batch(network, layers, binding, batch, larger) : std::move(cut);
}

/// Integer inputs whose values are given become constants where shapes depend on them.
MicroBatches cut_network(const Graph& network, const LayerTable& layers, const RunRequest& request,
                         std::int64_t& batch) {
  Binding binding = binding_for(network, request.inputs, request.dims, batch);
  try {
    return cut_with(network, layers, request, binding, batch);
  } catch (const InputError&) {
    for (const auto& [name, tensor] : request.inputs)
      if (!is_float(tensor.dtype()) && tensor.elements() <= 4096) binding.values[name] = tensor;
    if (binding.values.empty()) throw;
    return cut_with(network, layers, request, binding, batch);
  }
}

std::uint32_t slots_for(const MicroBatches& cut, unsigned workers) {
  // each worker has one micro-batch under way and one at hand
  return std::min<std::uint32_t>(static_cast<std::uint32_t>(cut.units.size()), 2 * workers);
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
  std::vector<starpu::RunStatistics> all;
  std::vector<Trace> traces;
  for (int i = 0; i < request.warmup + request.iterations; ++i) {
    const starpu::RunStatistics statistics = session.run();
    if (statistics.interrupted) break;
    if (i < request.warmup) continue;
    report.seconds.push_back(statistics.makespan);
    lost.push_back(statistics.lost());
    all.push_back(statistics);
    traces.push_back(session.trace());
  }
  report.median = median_of(report.seconds);
  report.lost = median_of(lost);
  if (all.empty()) return;
  std::size_t nearest = 0;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (std::abs(all[i].makespan - report.median) < std::abs(all[nearest].makespan - report.median))
      nearest = i;
  report.last = all[nearest];
  report.trace = std::move(traces[nearest]);
}

}  // namespace

std::int64_t choose_micro_batch(std::int64_t batch, unsigned workers) {
  const std::int64_t share = batch / std::max<std::int64_t>(1, 2 * static_cast<std::int64_t>(workers));
  return std::clamp<std::int64_t>(share, 1, 4);
}

RunReport run_network(const Graph& network, const LayerTable& layers, const RunRequest& request) {
  const auto begin = std::chrono::steady_clock::now();
  RunRequest full = request;
  if (full.machine.cores == 0)
    full.machine.cores = std::min(starpu::machine_cores(), starpu::library_core_limit());
  RunReport report;
  report.batch = request.batch;
  const MicroBatches cut = cut_network(network, layers, full, report.batch);
  LoweringOptions lowering;
  lowering.workers = full.machine.cores;
  lowering.slots = slots_for(cut, full.machine.cores);
  lowering.target_seconds = request.task_seconds;
  report.program = std::make_shared<const NetworkProgram>(lower(cut, layers, lowering));
  report.micro_batch = cut.variants[0].samples;
  report.micro_batches = static_cast<std::uint32_t>(cut.units.size());
  report.slots = report.program->slots;

  starpu::Machine machine(request.machine);
  report.workers = machine.workers();
  report.policy = machine.policy();
  report.limitation = machine.limitation();
  starpu::SessionOptions options;
  options.kernels = request.kernels;
  options.record_trace = true;
  options.stop = request.stop;
  starpu::NetworkSession session(machine, report.program, layers, options);
  give_inputs(session, request);
  report.preparation_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  measure(session, request, report);
  report.platform = platform_of(report.workers);
  report.bounds = measured_bounds(*report.program, report.trace, report.platform);
  const Graph& g = *report.program->variants[0].graph;
  for (std::size_t k = 0; k < g.outputs.size(); ++k)
    report.outputs[g.values[static_cast<std::size_t>(g.outputs[k])].name] = session.output(k);
  return report;
}

}  // namespace espalier
