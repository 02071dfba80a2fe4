#include "experiments/report/page_data.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

namespace espalier {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostBases = 12;
constexpr std::size_t kMostNames = 200'000;  ///< tasks; of more the codelet and number are shown

/// The values as little-endian T in base64.
template <class T, class Range, class F>
std::string packed(const Range& items, F&& value) {
  std::vector<T> out;
  out.reserve(items.size());
  for (const auto& item : items) out.push_back(static_cast<T>(value(item)));
  return base64({reinterpret_cast<const char*>(out.data()), out.size() * sizeof(T)});
}
std::string packed_floats(const std::vector<double>& values) {
  return packed<float>(values, [](double v) { return v; });
}

ordered_json gantt_to_json(const Gantt& g) {
  ordered_json out, moved;
  out["merged"] = g.merged;
  out["start"] = packed<float>(g.bars, [](const GanttBar& b) { return b.start; });
  out["end"] = packed<float>(g.bars, [](const GanttBar& b) { return b.end; });
  out["worker"] = packed<std::uint16_t>(g.bars, [](const GanttBar& b) { return b.worker; });
  out["task"] = packed<std::uint32_t>(g.bars, [](const GanttBar& b) { return b.task; });
  out["tasks"] = packed<std::uint32_t>(g.bars, [](const GanttBar& b) { return b.tasks; });
  out["flags"] = packed<std::uint8_t>(
      g.bars, [](const GanttBar& b) { return (b.critical ? 1 : 0) + 2 * static_cast<int>(b.cause); });
  out["waited"] = packed<float>(g.bars, [](const GanttBar& b) { return b.waited; });
  out["busy"] = packed<float>(g.bars, [](const GanttBar& b) { return b.busy; });
  moved["start"] = packed<float>(g.transfers, [](const GanttTransfer& t) { return t.start; });
  moved["end"] = packed<float>(g.transfers, [](const GanttTransfer& t) { return t.end; });
  moved["from"] = packed<std::uint16_t>(g.transfers, [](const GanttTransfer& t) { return t.from; });
  moved["to"] = packed<std::uint16_t>(g.transfers, [](const GanttTransfer& t) { return t.to; });
  moved["critical"] = packed<std::uint8_t>(g.transfers, [](const GanttTransfer& t) { return t.critical; });
  moved["data"] = packed<std::uint32_t>(g.transfers, [](const GanttTransfer& t) { return t.data; });
  out["transfers"] = std::move(moved);
  return out;
}

ordered_json curves_to_json(const Curves& c) {
  ordered_json busy = ordered_json::array(), memory = ordered_json::array();
  for (const auto& kind : c.busy) busy.push_back(packed_floats(kind));
  for (const auto& m : c.memory) memory.push_back(packed_floats(m));
  return {{"ready", packed_floats(c.ready)}, {"busy", std::move(busy)}, {"memory", std::move(memory)}};
}

/// Kinds that have workers, in the platform's order.
std::vector<KindId> used_kinds(const Platform& platform) {
  std::vector<KindId> used;
  for (KindId k = 0; k < platform.kinds.size(); ++k)
    for (const Worker& w : platform.workers)
      if (w.kind == k) {
        used.push_back(k);
        break;
      }
  return used;
}

/// null where the error is not known.
ordered_json known(double error) {
  return std::isnan(error) ? ordered_json() : ordered_json(error);
}

ordered_json sources_to_json(const SimulationSummary& summary) {
  ordered_json out = ordered_json::array();
  std::map<CostSource, double> shares;
  for (const CostShare& s : summary.cost_shares) shares[s.basis.source] += s.share;
  for (const auto& [source, share] : shares)
    out.push_back(
        {{"name", name_of(source)}, {"share", share}, {"error", known(expected_error(summary, source))}});
  return out;
}

/// What the costs rest on, the greatest shares of the time first; the rest together, with null for a name.
ordered_json bases_to_json(const SimulationSummary& summary) {
  ordered_json out = ordered_json::array();
  double rest = 0;
  for (std::size_t i = 0; i < summary.cost_shares.size(); ++i) {
    const CostShare& s = summary.cost_shares[i];
    if (i >= kMostBases) {
      rest += s.share;
      continue;
    }
    out.push_back({{"source", name_of(s.basis.source)},
                   {"basis", s.basis.text},
                   {"share", s.share},
                   {"error", known(s.basis.error)}});
  }
  if (rest > 0)
    out.push_back({{"source", fmt::format("{} more", summary.cost_shares.size() - kMostBases)},
                   {"basis", nullptr},
                   {"share", rest},
                   {"error", nullptr}});
  return out;
}

ordered_json row_to_json(const ComparisonCase& c, const ComparisonRow& r) {
  const Platform& platform = c.loaded->platform;
  ordered_json out;
  out["scheduler"] = r.scheduler;
  out["family"] = r.family;
  out["about"] = r.about;
  out["engine"] = r.engine;
  out["makespan"] = r.summary.makespan;
  out["gap"] = r.summary.gap;
  out["throughput"] = r.summary.throughput;
  out["moved"] = r.summary.transfer_bytes;
  out["transfers"] = r.transfers;
  out["own"] = r.scheduler_seconds;
  out["planned"] = r.planned ? r.planned_makespan : 0;
  out["proven"] = r.proven_optimal;
  if (r.real_makespan) out["real"] = *r.real_makespan;
  if (r.measured)
    out["measured"] = {{"runs", r.measured->seconds.size()},
                       {"low", r.measured->low},
                       {"high", r.measured->high},
                       {"disturbed", r.measured->disturbed}};
  ordered_json busy = ordered_json::array(), times = ordered_json::array(), links = ordered_json::array();
  for (const KindId k : used_kinds(platform)) {
    const WorkerTime& t = r.kinds[k];
    busy.push_back(t.total() > 0 ? t.busy / t.total() : 0);
    ordered_json parts = {t.busy};
    for (const double lost : t.lost) parts.push_back(lost);
    times.push_back(std::move(parts));
  }
  for (const LinkUse& use : r.links)
    links.push_back({{"name", platform.links[use.link].name}, {"bytes", use.bytes}, {"busy", use.busy}});
  out["busy"] = std::move(busy);
  out["times"] = std::move(times);
  out["peak"] = r.summary.peak_memory;
  out["links"] = std::move(links);
  out["sources"] = sources_to_json(r.summary);
  out["bases"] = bases_to_json(r.summary);
  out["chain"] = {{"steps", r.chain.links.size()},
                  {"task", r.chain.task_seconds},
                  {"transfer", r.chain.transfer_seconds},
                  {"wait", r.chain.wait_seconds},
                  {"longest", r.chain_text}};
  Curves curves = r.curves;
  std::vector<std::vector<double>> of_used;
  for (const KindId k : used_kinds(platform)) of_used.push_back(std::move(curves.busy[k]));
  curves.busy = std::move(of_used);
  out["curves"] = curves_to_json(curves);
  out["gantt"] = gantt_to_json(r.gantt);
  return out;
}

void add_machine(ordered_json& out, const Platform& platform) {
  ordered_json kinds = ordered_json::array(), workers = ordered_json::array(),
               memories = ordered_json::array();
  for (const KindId k : used_kinds(platform)) {
    std::size_t count = 0;
    for (const Worker& w : platform.workers) count += w.kind == k ? 1 : 0;
    kinds.push_back({{"name", platform.kinds[k].name}, {"count", count}});
  }
  for (const Worker& w : platform.workers) workers.push_back({{"name", w.name}});
  for (const Memory& m : platform.memories)
    memories.push_back(
        {{"name", m.name},
         {"capacity", m.capacity.value == std::numeric_limits<std::int64_t>::max() ? 0 : m.capacity.value}});
  out["kinds"] = std::move(kinds);
  out["workers"] = std::move(workers);
  out["memories"] = std::move(memories);
}

void add_tasks(ordered_json& out, const TaskGraph& graph) {
  std::map<std::string, std::size_t> index;
  std::vector<std::size_t> of_class;
  ordered_json codelets = ordered_json::array(), names = ordered_json::array();
  for (const CostClassInfo& info : graph.classes) {
    const auto [found, is_new] = index.emplace(info.codelet, index.size());
    if (is_new) codelets.push_back(info.codelet);
    of_class.push_back(found->second);
  }
  std::vector<TaskId> tasks(graph.task_count());
  for (TaskId t = 0; t < tasks.size(); ++t) tasks[t] = t;
  if (tasks.size() <= kMostNames)
    for (const TaskId t : tasks) names.push_back(graph.task_name(t));
  out["codelets"] = std::move(codelets);
  out["layers"] = graph.layer_names;
  out["names"] = std::move(names);
  out["taskCodelet"] =
      packed<std::uint16_t>(tasks, [&](TaskId t) { return of_class[graph.task(t).cost_class]; });
  out["taskLayer"] = packed<std::int32_t>(tasks, [&](TaskId t) { return graph.task(t).layer; });
}

ordered_json savings_to_json(const Savings& savings) {
  ordered_json tried = ordered_json::array();
  for (const Saving& s : savings.tried)
    tried.push_back(
        {{"what", name_of(s.what)}, {"name", s.name}, {"saved", s.saved}, {"makespan", s.makespan}});
  return {{"how", savings.how}, {"candidates", savings.candidates}, {"tried", std::move(tried)}};
}

ordered_json case_to_json(const ComparisonCase& c) {
  const TaskGraph& graph = c.loaded->workload.graph;
  ordered_json out;
  out["graph"] = c.how.graph;
  out["platform"] = c.how.platform;
  out["mode"] = c.how.mode;
  out["batch"] = c.how.batch;
  out["microBatches"] = c.how.micro_batches;
  out["seed"] = c.how.seed;
  out["timeLimit"] = c.how.time_limit;
  out["fingerprint"] = fmt::format("{:016x}", graph.fingerprint());
  out["platformFingerprint"] = fmt::format("{:016x}", c.loaded->platform.fingerprint());
  out["unitless"] = graph.unit_less;
  out["tasks"] = graph.task_count();
  out["edges"] = graph.edge_count();
  out["bound"] = c.best_bound();
  out["boundName"] = c.best_bound_name();
  ordered_json bounds = ordered_json::array();
  const std::pair<const char*, double> named[] = {{"critical path", c.bounds.critical_path},
                                                  {"area", c.bounds.area},
                                                  {"area with transfers", c.bounds.area_transfers},
                                                  {"mixed", c.bounds.mixed},
                                                  {"interval", c.bounds.interval},
                                                  {"proven", c.proven}};
  for (const auto& [name, value] : named)
    if (value > 0) bounds.push_back(ordered_json::array({name, value}));
  out["bounds"] = std::move(bounds);
  add_machine(out, c.loaded->platform);
  add_tasks(out, graph);
  ordered_json rows = ordered_json::array(), left_out = ordered_json::array();
  for (const ComparisonRow& r : c.rows) rows.push_back(row_to_json(c, r));
  for (const LeftOut& l : c.left_out)
    left_out.push_back({{"scheduler", l.scheduler}, {"engine", l.engine}, {"reason", l.reason}});
  ordered_json differences = ordered_json::array();
  for (const EngineDifference& d : c.differences)
    differences.push_back({{"scheduler", d.scheduler},
                           {"engine", d.engine},
                           {"reference", d.reference},
                           {"makespan", d.makespan},
                           {"referenceMakespan", d.reference_makespan},
                           {"relative", d.relative},
                           {"why", d.why}});
  out["differences"] = std::move(differences);
  out["rows"] = std::move(rows);
  out["leftOut"] = std::move(left_out);
  out["savings"] = savings_to_json(c.savings);
  out["verdict"] = c.verdict;
  return out;
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

std::string page_data(const Comparison& comparison) {
  ordered_json cases = ordered_json::array();
  for (const ComparisonCase& c : comparison.cases)
    if (!c.rows.empty()) cases.push_back(case_to_json(c));
  const ordered_json all = {
      {"version", "0.1.0"}, {"command", comparison.command}, {"cases", std::move(cases)}};
  std::string text;
  for (const char c : all.dump(-1, ' ', false, ordered_json::error_handler_t::replace)) {
    if (c == '<')
      text += "\\u003c";  // "<" stands in strings only
    else
      text += c;
  }
  return text;
}

}  // namespace espalier
