#include "experiments/simulate/cost_shares.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace espalier {
namespace {

constexpr std::size_t kMostNamed = 4;  // of a line for people; JSON has all

}  // namespace

double expected_error(const SimulationSummary& summary, CostSource source) {
  double error = 0, share = 0;
  for (const CostShare& s : summary.cost_shares)
    if (s.basis.source == source && !std::isnan(s.basis.error)) {
      error += s.share * s.basis.error;
      share += s.share;
    }
  return share > 0 ? error / share : std::nan("");
}

std::vector<std::string> cost_lines(const SimulationSummary& summary) {
  std::vector<CostSource> sources;  // the one with the greatest single share first
  for (const CostShare& s : summary.cost_shares)
    if (std::find(sources.begin(), sources.end(), s.basis.source) == sources.end())
      sources.push_back(s.basis.source);
  std::vector<std::string> lines;
  for (const CostSource source : sources) {
    double share = 0;
    std::string bases;
    std::size_t named = 0, all = 0;
    for (const CostShare& s : summary.cost_shares) {
      if (s.basis.source != source) continue;
      share += s.share;
      ++all;
      if (s.basis.text.empty() || named == kMostNamed) continue;
      bases += fmt::format("{}{} ({:.1f} %)", named++ == 0 ? ": " : ", ", s.basis.text, 100 * s.share);
    }
    std::string line = fmt::format("{:.1f} % of the time {}", 100 * share, name_of(source));
    if (const double error = expected_error(summary, source); !std::isnan(error))
      line += fmt::format(" (median error {:.1f} %)", 100 * error);
    line += bases;
    if (named > 0 && all > named) line += fmt::format(" and {} more", all - named);
    lines.push_back(std::move(line));
  }
  return lines;
}

nlohmann::ordered_json cost_shares_to_json(const SimulationSummary& summary) {
  auto out = nlohmann::ordered_json::array();
  for (const CostShare& s : summary.cost_shares) {
    nlohmann::ordered_json one = {
        {"source", name_of(s.basis.source)}, {"basis", s.basis.text}, {"share", s.share}};
    if (std::isnan(s.basis.error))
      one["median_error"] = nullptr;
    else
      one["median_error"] = s.basis.error;
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace espalier
