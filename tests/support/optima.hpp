#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/scheduling_cases.hpp"

/// Published optima of task graphs on identical processors.
namespace espalier::test {

struct OptimumRow {
  std::string graph;  ///< file name
  std::size_t workers;
  double lower, upper;  ///< equal where the optimum is known
  bool closed() const { return lower == upper; }
};

/// Rows "50/rand0000.stg,2,131" or, for open ones, "50/rand0060.stg,2,157,165" of a CSV file.
std::vector<OptimumRow> read_optima(const std::filesystem::path& csv);

/// A task-graph file on identical:P.
ProblemCase identical_file_case(const std::filesystem::path& file, std::size_t workers);

}  // namespace espalier::test
