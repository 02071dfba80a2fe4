#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "experiments/report/report.hpp"
#include "graphs/base/file_io.hpp"
#include "runtime/trace/chrome_trace.hpp"

namespace espalier {
namespace {

/// A name that is a file's name on every system.
std::string file_name(const std::string& text) {
  std::string out = std::filesystem::path(text).filename().string();
  for (char& c : out)
    if (std::string_view("/\\:*?\"<>|= ,\t\n\r").find(c) != std::string_view::npos) c = '_';
  return out.empty() ? "unnamed" : out;
}

}  // namespace

void write_traces(const std::string& folder, const ComparisonCase& c, const SimulationResult& result) {
  const SchedulingProblem problem = c.loaded->problem();
  const std::filesystem::path in = folder;
  const std::string target = fmt::format("{}-{}", file_name(c.how.graph), file_name(c.how.platform));
  std::string scheduler = result.scheduler;  // no path: "NAME/both"
  std::replace(scheduler.begin(), scheduler.end(), '/', '_');
  const std::string base =
      fmt::format("{}-{}-{}", target, file_name(scheduler), file_name(result.trace.engine));
  write_file(in / (base + ".trace.json"), to_chrome_trace(result.trace, problem.graph, problem.platform));
  write_file(in / (base + ".paje"), to_paje(result.trace, problem.graph, problem.platform));
  if (c.rows.size() == 1) write_file(in / (target + ".dot"), to_dot(problem.graph, problem.costs));
}

}  // namespace espalier
