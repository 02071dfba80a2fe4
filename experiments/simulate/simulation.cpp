#include "experiments/simulate/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <unordered_map>

#include "runtime/task_graph/sources/source.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {

SimulationResult simulate_plan(const SchedulingProblem& problem, const Plan& plan,
                               const SimulationOptions& options) {
  SimulationResult result;
  result.scheduler = plan.scheduler;
  result.trace = simulate(problem, plan, options);
  result.trace.scheduler = plan.scheduler;
  return result;
}

SimulationResult simulate_scheduler(const SchedulingProblem& problem, const std::string& scheduler,
                                    const SimulationOptions& options) {
  const SchedulerEntry& entry = scheduler_named(scheduler);
  SimulationResult result;
  if (entry.make_static != nullptr) {
    const auto start = std::chrono::steady_clock::now();
    Plan plan = entry.make_static()->schedule(problem);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    plan.graph_fingerprint = problem.graph.fingerprint();
    plan.platform_fingerprint = problem.platform.fingerprint();
    plan.seed = problem.seed;
    if (plan.scheduler.empty()) plan.scheduler = scheduler;
    result = simulate_plan(problem, plan, options);
    result.scheduler_seconds = seconds;
    result.plan = std::move(plan);
  } else {
    const auto policy = entry.make_online();
    result.trace = simulate(problem, *policy, options);
    result.scheduler_seconds = result.trace.scheduler_seconds;
  }
  result.scheduler = scheduler;
  result.trace.scheduler = scheduler;
  result.trace.scheduler_seconds = result.scheduler_seconds;
  return result;
}

SimulationSummary summarise(const SchedulingProblem& problem, const Trace& trace, const Bounds& bounds) {
  SimulationSummary s;
  s.makespan = trace.makespan;
  s.bounds = bounds;
  if (bounds.best() > 0) s.gap = trace.makespan / bounds.best() - 1;
  if (problem.graph.samples > 0 && trace.makespan > 0) s.throughput = problem.graph.samples / trace.makespan;
  for (const TransferEvent& e : trace.transfers)
    s.transfer_bytes += static_cast<double>(problem.graph.data(e.data).size.value);
  s.transfers = trace.transfers.size();
  for (const MovedBytes& m : trace.moved) {
    s.transfer_bytes += m.bytes;
    s.transfers += m.transfers;
  }
  if (problem.graph.unit_less) s.transfer_bytes /= kBytesPerUnit;
  s.utilisation.assign(problem.platform.workers.size(), 0);
  double total = 0;
  std::unordered_map<const CostBasis*, double> by_basis;  // of one table: one address for each
  for (const TaskEvent& e : trace.tasks) {
    const double time = e.end - e.start;
    s.utilisation[e.worker] += time;
    total += time;
    const KindId kind = problem.platform.workers[e.worker].kind;
    by_basis[&problem.costs.basis(problem.graph.task(e.task).cost_class, kind)] += time;
  }
  if (trace.makespan > 0)
    for (double& u : s.utilisation) u /= trace.makespan;
  for (const auto& [basis, time] : by_basis) {
    const double share = total > 0 ? time / total : 0;
    s.cost_sources[std::string(name_of(basis->source))] += share;
    s.cost_shares.push_back({*basis, share});
  }
  std::sort(s.cost_shares.begin(), s.cost_shares.end(), [](const CostShare& a, const CostShare& b) {
    return std::tie(b.share, a.basis.source, a.basis.text) < std::tie(a.share, b.basis.source, b.basis.text);
  });
  s.peak_memory = trace.peak_memory;
  return s;
}

}  // namespace espalier
