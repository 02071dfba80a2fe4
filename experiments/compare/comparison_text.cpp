#include <algorithm>
#include <fmt/format.h>

#include "experiments/compare/comparison.hpp"

namespace espalier {
namespace {

using Cells = std::vector<std::string>;

/// The first column is flush left, the others too where `left`, else right.
std::string table(const std::vector<Cells>& rows, bool left = false) {
  std::vector<std::size_t> width(rows[0].size(), 0);
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  std::string out;
  for (const Cells& row : rows) {
    std::string line = fmt::format("  {:<{}}", row[0], width[0]);
    for (std::size_t i = 1; i < row.size(); ++i)
      line += left ? fmt::format("  {:<{}}", row[i], width[i]) : fmt::format("  {:>{}}", row[i], width[i]);
    line.erase(line.find_last_not_of(' ') + 1);
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

const EngineDifference* difference_of(const ComparisonCase& c, const std::string& scheduler,
                                      const std::string& engine) {
  for (const EngineDifference& d : c.differences)
    if (d.scheduler == scheduler && d.engine == engine) return &d;
  return nullptr;
}

/// A row for each scheduler: the makespan on the first engine, on each other one with the relative
/// difference. Behind it what each difference is made of.
std::string engines_as_table(const ComparisonCase& c) {
  if (c.differences.empty()) return {};
  const bool unit_less = c.loaded->workload.graph.unit_less;
  const std::string& reference = c.differences.front().reference;
  std::vector<std::string> engines;
  for (const EngineDifference& d : c.differences)
    if (std::find(engines.begin(), engines.end(), d.engine) == engines.end()) engines.push_back(d.engine);
  Cells head{"scheduler", reference};
  for (const std::string& e : engines) head.insert(head.end(), {e, "difference"});
  std::vector<Cells> rows{head}, reasons{{"scheduler", "engine", "made of"}};
  for (const ComparisonRow& r : c.first_engine()) {
    Cells row{r.scheduler, show_time(r.summary.makespan, unit_less)};
    for (const std::string& e : engines) {
      const EngineDifference* d = difference_of(c, r.scheduler, e);
      if (d == nullptr) {
        row.insert(row.end(), {"-", ""});
        continue;
      }
      row.insert(row.end(), {show_time(d->makespan, unit_less), fmt::format("{:+.1f} %", 100 * d->relative)});
      reasons.push_back({r.scheduler, e, d->why});
    }
    rows.push_back(std::move(row));
  }
  return fmt::format(
      "\nengines, against {}:\n{}what the differences are made of, in shares of {}'s makespan:\n{}",
      reference, table(rows), reference, table(reasons, true));
}

std::string measured_as_text(const ComparisonCase& c) {
  std::string out;
  for (const ComparisonRow& r : c.rows)
    if (r.measured)
      out += fmt::format(
          "  {}: median of {} runs, 95 % interval {} to {}{}\n", r.scheduler, r.measured->seconds.size(),
          show_time(r.measured->low, false), show_time(r.measured->high, false),
          r.measured->disturbed > 0 ? fmt::format(", {} disturbed by other programs", r.measured->disturbed)
                                    : "");
  return out.empty() ? out : "\nreal runs (engine starpu):\n" + out;
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
  out += engines_as_table(c) + measured_as_text(c);
  out += fmt::format("\ncosts of {}:\n", c.rows.front().scheduler);
  for (const std::string& line : cost_lines(c.rows.front().summary)) out += fmt::format("  {}\n", line);
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
