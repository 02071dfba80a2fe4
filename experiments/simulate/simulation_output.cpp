#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/simulate/cost_shares.hpp"
#include "experiments/simulate/simulation.hpp"

namespace espalier {
namespace {

using nlohmann::ordered_json;

ordered_json bounds_to_json(const Bounds& b) {
  ordered_json out;
  out["critical_path"] = b.critical_path;
  out["area"] = b.area;
  if (b.area_transfers > 0) out["area_transfers"] = b.area_transfers;
  if (b.mixed > 0) out["mixed"] = b.mixed;
  if (b.interval > 0) out["interval"] = b.interval;
  out["best"] = b.best();
  return out;
}

std::string duration(double seconds, bool unit_less) {
  if (unit_less) return fmt::format("{:g}", seconds);
  if (seconds >= 1) return fmt::format("{:.4f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.4f} ms", seconds * 1e3);
  return fmt::format("{:.3f} us", seconds * 1e6);
}

}  // namespace

std::string result_to_json(const SchedulingProblem& problem, const SimulationResult& result,
                           const SimulationSummary& summary, const Reproduction& how) {
  const Platform& platform = problem.platform;
  ordered_json out;
  out["graph"] = how.graph;
  out["platform"] = how.platform;
  out["scheduler"] = result.scheduler;
  out["engine"] = result.trace.engine;
  if (!result.engine_version.empty()) out["engine_version"] = result.engine_version;
  out["makespan"] = summary.makespan;
  out["unit"] = problem.graph.unit_less ? "the file's own" : "s";
  out["bounds"] = bounds_to_json(summary.bounds);
  out["gap"] = summary.gap;
  if (summary.throughput > 0) out["throughput"] = summary.throughput;
  out["tasks"] = problem.graph.task_count();
  out["transfers"] = summary.transfers;
  out["transfer_bytes"] = summary.transfer_bytes;
  ordered_json peak, utilisation;
  for (std::size_t m = 0; m < summary.peak_memory.size(); ++m)
    peak[platform.memories[m].name] = summary.peak_memory[m];
  for (std::size_t w = 0; w < summary.utilisation.size(); ++w)
    utilisation[platform.workers[w].name] = summary.utilisation[w];
  out["peak_memory_bytes"] = std::move(peak);
  out["scheduler_seconds"] = result.scheduler_seconds;
  out["utilisation"] = std::move(utilisation);
  out["cost_sources"] = summary.cost_sources;
  out["cost_bases"] = cost_shares_to_json(summary);
  if (result.plan) {
    out["planned_makespan"] = result.plan->makespan;
    out["proven_optimal"] = result.plan->proven_optimal;
  }
  out["reproduce"] = {{"version", "0.1.0"},
                      {"graph", how.graph},
                      {"platform", how.platform},
                      {"scheduler", result.scheduler},
                      {"seed", how.seed},
                      {"time_limit", how.time_limit},
                      {"mode", how.mode},
                      {"batch", how.batch},
                      {"micro_batches", how.micro_batches},
                      {"costs", how.costs}};
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string result_to_text(const SchedulingProblem& problem, const SimulationResult& result,
                           const SimulationSummary& summary) {
  const bool unit_less = problem.graph.unit_less;
  std::string out = fmt::format("{} on {}, {}: {} tasks\n", problem.graph.name, problem.platform.name,
                                result.scheduler, problem.graph.task_count());
  out += fmt::format("makespan         {}\n", duration(summary.makespan, unit_less));
  out += fmt::format("best lower bound {} (critical path {}, area {}), gap {:.2f} %\n",
                     duration(summary.bounds.best(), unit_less),
                     duration(summary.bounds.critical_path, unit_less),
                     duration(summary.bounds.area, unit_less), 100 * summary.gap);
  if (summary.throughput > 0) out += fmt::format("throughput       {:.2f} samples/s\n", summary.throughput);
  out += unit_less ? fmt::format("transferred      {:g} in {} transfers\n", summary.transfer_bytes,
                                 summary.transfers)
                   : fmt::format("transferred      {:.3f} MB in {} transfers\n", summary.transfer_bytes / 1e6,
                                 summary.transfers);
  out += fmt::format("scheduler        {:.3f} ms\n", 1e3 * result.scheduler_seconds);
  std::vector<double> busy(problem.platform.kinds.size(), 0), count(problem.platform.kinds.size(), 0);
  for (std::size_t w = 0; w < summary.utilisation.size(); ++w) {
    busy[problem.platform.workers[w].kind] += summary.utilisation[w];
    ++count[problem.platform.workers[w].kind];
  }
  for (std::size_t k = 0; k < busy.size(); ++k)
    if (count[k] > 0)
      out += fmt::format("utilisation      {:.1f} % of {} x {}\n", 100 * busy[k] / count[k], count[k],
                         problem.platform.kinds[k].name);
  for (const std::string& line : cost_lines(summary)) out += fmt::format("costs            {}\n", line);
  return out;
}

}  // namespace espalier
