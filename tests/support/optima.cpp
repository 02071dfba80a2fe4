#include "tests/support/optima.hpp"

#include <sstream>

#include "graphs/base/file_io.hpp"
#include "runtime/platform/platform_source.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier::test {

std::vector<OptimumRow> read_optima(const std::filesystem::path& csv) {
  std::vector<OptimumRow> rows;
  std::istringstream lines(read_file(csv));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string graph, workers, lower, upper;
    std::getline(fields, graph, ',');
    std::getline(fields, workers, ',');
    std::getline(fields, lower, ',');
    std::getline(fields, upper, ',');
    if (lower.empty()) continue;
    rows.push_back({graph.substr(graph.find('/') + 1), std::stoul(workers), std::stod(lower),
                    std::stod(upper.empty() ? lower : upper)});
  }
  return rows;
}

ProblemCase identical_file_case(const std::filesystem::path& file, std::size_t workers) {
  const std::string text = read_file(file);
  LoadedTaskGraph loaded =
      file.extension() == ".dot" ? read_dot(text, file.string()) : read_stg(text, file.string());
  ProblemCase result{std::move(loaded.graph), identical_platform(workers), {}};
  const CostModel* models[] = {loaded.given.get()};
  result.costs = make_cost_table(result.graph, result.platform, models);
  return result;
}

}  // namespace espalier::test
