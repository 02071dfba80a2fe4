#include "experiments/compare/engine_differences.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "experiments/compare/comparison.hpp"

namespace espalier {
namespace {

WorkerTime all_workers(const ComparisonRow& row) {
  WorkerTime all;
  for (const WorkerTime& k : row.kinds) all += k;
  return all;
}

const ComparisonRow* twin_of(const ComparisonCase& c, const ComparisonRow& row) {
  const std::string& reference = c.rows.front().engine;
  for (const ComparisonRow& r : c.rows)
    if (r.engine == reference && r.scheduler == row.scheduler) return &r;
  return nullptr;
}

constexpr const char* kWords[kLostCauses] = {"waiting for predecessors", "waiting for data",
                                             "waiting for room",         "with nothing ready",
                                             "without being given work", "in the runtime's overhead"};

/// The two largest parts, and the bytes where they differ by a tenth.
std::string in_words(const EngineDifference& d) {
  std::vector<std::pair<double, std::string>> parts{{d.busy, "computing"}};
  for (std::size_t i = 0; i < kLostCauses; ++i) parts.emplace_back(d.lost[i], kWords[i]);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return std::abs(a.first) > std::abs(b.first); });
  std::vector<std::string> words;
  for (std::size_t i = 0; i < 2; ++i)
    if (std::abs(parts[i].first) >= 0.001)
      words.push_back(fmt::format("{:+.1f} % {}", 100 * parts[i].first, parts[i].second));
  const double most = std::max(d.bytes, d.reference_bytes);
  if (std::abs(d.bytes - d.reference_bytes) > 0.1 * most)
    words.push_back(d.reference_bytes > 0
                        ? fmt::format("{:+.0f} % bytes moved", 100 * (d.bytes / d.reference_bytes - 1))
                        : "bytes are moved");
  return words.empty() ? "alike" : fmt::format("{}", fmt::join(words, ", "));
}

/// A makespan as far as it is known.
struct Interval {
  double low, high;
  int order(const Interval& other) const { return high < other.low ? -1 : low > other.high ? 1 : 0; }
};
struct Pair {
  Interval reference, here;
};

Interval interval_of(const ComparisonRow& row) {
  constexpr double kTie = 5e-4;  // to both sides: engines' makespans within a thousandth count as equal
  if (row.measured) return {row.measured->low, row.measured->high};
  return {row.summary.makespan * (1 - kTie), row.summary.makespan * (1 + kTie)};
}

}  // namespace

std::vector<EngineDifference> engine_differences(const ComparisonCase& c) {
  std::vector<EngineDifference> out;
  for (const ComparisonRow& row : c.rows) {
    if (row.engine == c.rows.front().engine) continue;
    const ComparisonRow* twin = twin_of(c, row);
    if (twin == nullptr || !(twin->summary.makespan > 0)) continue;
    EngineDifference d;
    d.scheduler = row.scheduler;
    d.engine = row.engine;
    d.reference = twin->engine;
    d.makespan = row.summary.makespan;
    d.reference_makespan = twin->summary.makespan;
    d.relative = d.makespan / d.reference_makespan - 1;
    d.bytes = row.summary.transfer_bytes;
    d.reference_bytes = twin->summary.transfer_bytes;
    d.seconds = row.engine_seconds;
    d.reference_seconds = twin->engine_seconds;
    const WorkerTime here = all_workers(row), there = all_workers(*twin);
    const double whole = d.reference_makespan * static_cast<double>(c.loaded->platform.workers.size());
    d.busy = (here.busy - there.busy) / whole;
    for (std::size_t i = 0; i < kLostCauses; ++i) d.lost[i] = (here.lost[i] - there.lost[i]) / whole;
    d.why = in_words(d);
    out.push_back(std::move(d));
  }
  return out;
}

double engine_order_kept(const ComparisonCase& c, const std::string& engine) {
  std::vector<Pair> pairs;
  for (const ComparisonRow& row : c.rows)
    if (const ComparisonRow* twin = twin_of(c, row); row.engine == engine && twin != nullptr && twin != &row)
      pairs.push_back({interval_of(*twin), interval_of(row)});
  double kept = 0, first = 0, second = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int x = pairs[i].reference.order(pairs[j].reference), y = pairs[i].here.order(pairs[j].here);
      kept += x * y;
      first += x * x;
      second += y * y;
    }
  if (first <= 0 || second <= 0) return std::numeric_limits<double>::quiet_NaN();
  return kept / std::sqrt(first * second);
}

}  // namespace espalier
