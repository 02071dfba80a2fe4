#include <fmt/format.h>

#include "experiments/report/report.hpp"

namespace espalier {
namespace {

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string measured_cells(const ComparisonRow& r) {
  if (!r.measured) return ",,,\r\n";
  return fmt::format(",{},{},{}\r\n", r.measured->seconds.size(), r.measured->low, r.measured->high);
}

std::string line_of(const ComparisonCase& c, const ComparisonRow& r) {
  WorkerTime all;
  for (const WorkerTime& k : r.kinds) all += k;
  const double total = all.total() > 0 ? all.total() : 1;
  std::string out =
      fmt::format("{},{},{},{},{},{},{},{},{},{},{}", cell(c.how.graph), cell(c.how.platform),
                  cell(r.scheduler), cell(r.family), cell(r.engine), r.summary.makespan, c.best_bound(),
                  cell(c.best_bound_name()), r.summary.gap, r.summary.throughput, r.summary.transfer_bytes);
  out += fmt::format(",{},{},{}", r.transfers, r.scheduler_seconds, all.busy / total);
  for (const double lost : all.lost) out += fmt::format(",{}", lost / total);
  out += fmt::format(",{},{},{},{}", r.chain.task_seconds, r.chain.transfer_seconds, r.chain.wait_seconds,
                     c.how.seed);
  for (const EngineDifference& d : c.differences)
    if (d.engine == r.engine && d.scheduler == r.scheduler)
      return out + fmt::format(",{},{}", d.relative, cell(d.why)) + measured_cells(r);
  return out + ",," + measured_cells(r);
}

}  // namespace

std::string comparison_to_csv(const Comparison& comparison) {
  std::string out =
      "graph,platform,scheduler,family,engine,makespan,best_bound,best_bound_name,gap,throughput,transfer_"
      "bytes,"
      "transfers,scheduler_seconds,busy";
  for (std::size_t i = 0; i < kLostCauses; ++i)
    out += fmt::format(",lost_{}", key_of(static_cast<LostCause>(i)));
  out +=
      ",chain_task_seconds,chain_transfer_seconds,chain_wait_seconds,seed,difference_from_first_engine,"
      "difference_made_of,measured_runs,measured_low,measured_high\r\n";
  for (const ComparisonCase& c : comparison.cases)
    for (const ComparisonRow& r : c.rows) out += line_of(c, r);
  return out;
}

}  // namespace espalier
