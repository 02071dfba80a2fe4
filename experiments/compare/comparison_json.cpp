#include <nlohmann/json.hpp>

#include "experiments/compare/comparison.hpp"
#include "experiments/simulate/cost_shares.hpp"

namespace espalier {
namespace {

using nlohmann::ordered_json;

ordered_json bounds_to_json(const ComparisonCase& c) {
  ordered_json out;
  out["critical_path"] = c.bounds.critical_path;
  out["area"] = c.bounds.area;
  if (c.bounds.area_transfers > 0) out["area_transfers"] = c.bounds.area_transfers;
  if (c.bounds.mixed > 0) out["mixed"] = c.bounds.mixed;
  if (c.bounds.interval > 0) out["interval"] = c.bounds.interval;
  if (c.proven > 0) out["proven"] = c.proven;
  out["best"] = c.best_bound();
  out["best_name"] = c.best_bound_name();
  return out;
}

/// Shares of the time of a kind's workers.
ordered_json time_to_json(const WorkerTime& time) {
  ordered_json out;
  const double total = time.total();
  out["busy"] = total > 0 ? time.busy / total : 0;
  for (std::size_t i = 0; i < kLostCauses; ++i)
    out[std::string(key_of(static_cast<LostCause>(i)))] = total > 0 ? time.lost[i] / total : 0;
  return out;
}

void add_times(ordered_json& out, const Platform& platform, const ComparisonRow& row) {
  WorkerTime all;
  ordered_json by_kind = ordered_json::object(), kinds = ordered_json::object();
  for (KindId k = 0; k < row.kinds.size(); ++k) {
    all += row.kinds[k];
    if (row.kinds[k].total() <= 0) continue;
    by_kind[platform.kinds[k].name] = time_to_json(row.kinds[k]);
    kinds[platform.kinds[k].name] = row.kinds[k].busy / row.kinds[k].total();
  }
  out["utilisation_by_kind"] = std::move(kinds);
  out["lost_time"] = time_to_json(all);
  out["lost_time_by_kind"] = std::move(by_kind);
}

ordered_json row_to_json(const ComparisonCase& c, const ComparisonRow& row) {
  const Platform& platform = c.loaded->platform;
  const SimulationSummary& s = row.summary;
  ordered_json out;
  out["graph"] = c.how.graph;
  out["platform"] = c.how.platform;
  out["scheduler"] = row.scheduler;
  out["family"] = row.family;
  out["engine"] = row.engine;
  out["makespan"] = s.makespan;
  out["bounds"] = bounds_to_json(c);
  out["gap"] = s.gap;
  if (s.throughput > 0) out["throughput"] = s.throughput;
  out["transfers"] = row.transfers;
  out["transfer_bytes"] = s.transfer_bytes;
  ordered_json peak = ordered_json::object(), utilisation = ordered_json::object(),
               links = ordered_json::object();
  for (std::size_t m = 0; m < s.peak_memory.size(); ++m) peak[platform.memories[m].name] = s.peak_memory[m];
  for (std::size_t w = 0; w < s.utilisation.size(); ++w)
    utilisation[platform.workers[w].name] = s.utilisation[w];
  for (const LinkUse& use : row.links)
    links[platform.links[use.link].name] = {{"bytes", use.bytes}, {"busy", use.busy}};
  out["peak_memory_bytes"] = std::move(peak);
  out["scheduler_seconds"] = row.scheduler_seconds;
  if (row.engine_seconds > 0) out["engine_seconds"] = row.engine_seconds;
  out["utilisation"] = std::move(utilisation);
  add_times(out, platform, row);
  out["critical_chain"] = {{"steps", row.chain.links.size()},
                           {"task_seconds", row.chain.task_seconds},
                           {"transfer_seconds", row.chain.transfer_seconds},
                           {"wait_seconds", row.chain.wait_seconds},
                           {"longest", row.chain_text}};
  out["links"] = std::move(links);
  out["cost_sources"] = s.cost_sources;
  out["cost_bases"] = cost_shares_to_json(s);
  if (row.planned) {
    out["planned_makespan"] = row.planned_makespan;
    out["proven_optimal"] = row.proven_optimal;
  }
  if (row.real_makespan) {
    out["real_makespan"] = *row.real_makespan;
    out["prediction_error"] = s.makespan / *row.real_makespan - 1;
  }
  if (row.measured)
    out["measured"] = {{"seconds", row.measured->seconds},
                       {"low", row.measured->low},
                       {"high", row.measured->high},
                       {"disturbed", row.measured->disturbed}};
  return out;
}

ordered_json savings_to_json(const Savings& savings) {
  ordered_json tried = ordered_json::array();
  for (const Saving& s : savings.tried)
    tried.push_back({{"what", name_of(s.what)},
                     {"name", s.name},
                     {"makespan", s.makespan},
                     {"saved", s.saved},
                     {"chain_seconds", s.chain_seconds}});
  return {{"how", savings.how}, {"candidates", savings.candidates}, {"halved", std::move(tried)}};
}

ordered_json differences_to_json(const ComparisonCase& c) {
  ordered_json out = ordered_json::array();
  for (const EngineDifference& d : c.differences) {
    ordered_json made_of = {{"busy", d.busy}};
    for (std::size_t i = 0; i < kLostCauses; ++i)
      made_of[std::string(key_of(static_cast<LostCause>(i)))] = d.lost[i];
    out.push_back({{"scheduler", d.scheduler},
                   {"engine", d.engine},
                   {"reference", d.reference},
                   {"makespan", d.makespan},
                   {"reference_makespan", d.reference_makespan},
                   {"difference", d.relative},
                   {"made_of", std::move(made_of)},
                   {"transfer_bytes", d.bytes},
                   {"reference_transfer_bytes", d.reference_bytes},
                   {"why", d.why}});
  }
  return out;
}

ordered_json case_to_json(const ComparisonCase& c) {
  const TaskGraph& graph = c.loaded->workload.graph;
  ordered_json out;
  out["graph"] = c.how.graph;
  out["platform"] = c.how.platform;
  out["unit"] = graph.unit_less ? "the file's own" : "s";
  out["tasks"] = graph.task_count();
  out["dependencies"] = graph.edge_count();
  if (graph.samples > 0) out["samples"] = graph.samples;
  out["bounds"] = bounds_to_json(c);
  ordered_json rows = ordered_json::array(), left_out = ordered_json::array();
  for (const ComparisonRow& row : c.rows) rows.push_back(row_to_json(c, row));
  for (const LeftOut& l : c.left_out)
    left_out.push_back({{"scheduler", l.scheduler}, {"engine", l.engine}, {"reason", l.reason}});
  out["winner"] = c.rows.empty() ? "" : c.rows.front().scheduler;
  out["schedulers"] = std::move(rows);
  out["left_out"] = std::move(left_out);
  if (!c.differences.empty()) out["engines"] = differences_to_json(c);
  out["what_would_help"] = savings_to_json(c.savings);
  out["verdict"] = c.verdict;
  out["reproduce"] = {{"version", "0.1.0"},         {"graph", c.how.graph},
                      {"platform", c.how.platform}, {"mode", c.how.mode},
                      {"batch", c.how.batch},       {"micro_batches", c.how.micro_batches},
                      {"seed", c.how.seed},         {"time_limit", c.how.time_limit}};
  return out;
}

}  // namespace

std::string comparison_to_json(const Comparison& comparison) {
  ordered_json cases = ordered_json::array();
  for (const ComparisonCase& c : comparison.cases) cases.push_back(case_to_json(c));
  const ordered_json out = {{"version", "0.1.0"},
                            {"command", comparison.command},
                            {"complete", !comparison.interrupted},
                            {"cases", std::move(cases)}};
  return out.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace espalier
