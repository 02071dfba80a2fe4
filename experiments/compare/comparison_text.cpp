#include <algorithm>
#include <fmt/format.h>

#include "experiments/compare/comparison.hpp"

namespace espalier {
namespace {

using Cells = std::vector<std::string>;

/// The first column is flush left, the others right.
std::string table(const std::vector<Cells>& rows) {
  std::vector<std::size_t> width(rows[0].size(), 0);
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string out;
  for (const Cells& row : rows) {
    std::string line = fmt::format("  {:<{}}", row[0], width[0]);
    for (std::size_t i = 1; i < row.size(); ++i) line += fmt::format("  {:>{}}", row[i], width[i]);
    out += line + "\n";
  }
  return out;
}

std::string share(double part, double whole) {
  return whole > 0 ? fmt::format("{:.1f}", 100 * part / whole) : "0";
}

std::string rows_as_table(const ComparisonCase& c) {
  const TaskGraph& graph = c.loaded->workload.graph;
  const bool samples = graph.samples > 0,
             engines = std::any_of(c.rows.begin(), c.rows.end(),
                                   [&](const auto&r) { return r.engine != c.rows.front().engine; });
  Cells head{"scheduler", "makespan", "gap %"};
  if (samples) head.push_back("samples/s");
  for (const char* name : {"moved", "busy %", "pred %", "data %", "mem %", "none ready %", "no work %",
                           "overhead %", "own time"})
    head.emplace_back(name);
  std::vector<Cells> rows{head};
  for (const ComparisonRow& r : c.rows) {
    WorkerTime all;
    for (const WorkerTime& k : r.kinds) all += k;
    Cells row{engines ? fmt::format("{} on {}", r.scheduler, r.engine) : r.scheduler,
              show_time(r.summary.makespan, graph.unit_less), fmt::format("{:.2f}", 100 * r.summary.gap)};
    if (samples) row.push_back(show_count(r.summary.throughput));
    row.push_back(show_bytes(r.summary.transfer_bytes, graph.unit_less));
    row.push_back(share(all.busy, all.total()));
    for (const double lost : all.lost) row.push_back(share(lost, all.total()));
    row.push_back(show_time(r.scheduler_seconds, false));
    rows.push_back(std::move(row));
  }
  return table(rows);
}

/// A row for each scheduler, a column for each engine, and what the differences are made of.
std::string engines_as_table(const ComparisonCase& c) {
  if (c.differences.empty()) return {};
  const bool unit_less = c.loaded->workload.graph.unit_less;
  std::vector<Cells> rows{
      {"scheduler", c.differences.front().reference, "engine", "makespan", "difference", "made of"}};
  for (const EngineDifference& d : c.differences)
    rows.push_back({d.scheduler, show_time(d.reference_makespan, unit_less), d.engine,
                    show_time(d.makespan, unit_less), fmt::format("{:+.1f} %", 100 * d.relative), d.why});
  return "\nengines, against " + c.differences.front().reference + ":\n" + table(rows);
}

std::string case_to_text(const ComparisonCase& c) {
  const TaskGraph& graph = c.loaded->workload.graph;
  std::string out =
      fmt::format("{} on {}: {} tasks, {} dependencies, {} workers\n", c.how.graph, c.how.platform,
                  graph.task_count(), graph.edge_count(), c.loaded->platform.workers.size());
  out += fmt::format("best lower bound {} ({})\n\n", show_time(c.best_bound(), graph.unit_less),
                     c.best_bound_name());
  out += rows_as_table(c);
  for (const LeftOut& l : c.left_out)
    out += fmt::format("  {} left out on {}: {}\n", l.scheduler, l.engine, l.reason);
  out += engines_as_table(c);
  out += "\n";
  for (const std::string& sentence : c.verdict) out += sentence + "\n";
  return out;
}

}  // namespace

std::string comparison_to_text(const Comparison& comparison) {
  std::string out;
  for (const ComparisonCase& c : comparison.cases) out += (out.empty() ? "" : "\n") + case_to_text(c);
  return out;
}

}  // namespace espalier
