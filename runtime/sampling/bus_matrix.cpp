#include "runtime/sampling/bus_matrix.hpp"

#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/sampling/fields.hpp"

namespace espalier::sampling {
namespace {

constexpr std::size_t kMostNodes = 4096;

std::vector<double> read_row(std::string_view line, const std::string& where) {
  std::vector<double> row;
  Fields in(line, where);
  while (!in.at_end()) {
    const std::string_view field = in.next("a number");
    const auto value = parse_number(field);
    if (!value || std::isinf(*value))
      throw InputError(fmt::format("{}: \"{}\"; a number or nan was expected", where, field.substr(0, 40)));
    row.push_back(*value);
    if (row.size() > kMostNodes) throw InputError(fmt::format("{}: more than {} columns", where, kMostNodes));
  }
  return row;
}

void require_nodes(const BusMatrix& m, const std::string& name, std::size_t nodes, double least) {
  if (m.rows.size() < nodes)
    throw InputError(fmt::format("{}: {} rows; {} are needed: main memory and {} GPUs", name, m.rows.size(),
                                 nodes, nodes - 1));
  for (std::size_t i = 0; i < nodes; ++i) {
    if (m.rows[i].size() < nodes)
      throw InputError(
          fmt::format("{}: row {} has {} columns; {} are needed", name, i, m.rows[i].size(), nodes));
    for (std::size_t j = 0; j < nodes; ++j)
      if (i != j && !(m.rows[i][j] >= least))
        throw InputError(fmt::format("{}: row {}, column {} is {}; a number of at least {} was expected",
                                     name, i, j, m.rows[i][j], least));
  }
}

}  // namespace

BusMatrix read_bus_matrix(std::string_view text, const std::string& name, std::size_t nodes, double least) {
  BusMatrix matrix;
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::vector<double> row = read_row(text.substr(at, end - at), fmt::format("{}:{}", name, line));
    if (!row.empty()) matrix.rows.push_back(std::move(row));
    if (matrix.rows.size() > kMostNodes)
      throw InputError(fmt::format("{}:{}: more than {} rows", name, line, kMostNodes));
    at = end + 1;
  }
  require_nodes(matrix, name, nodes, least);
  return matrix;
}

std::string bus_matrix_to_text(const BusMatrix& matrix) {
  const std::size_t n = matrix.rows.size() + 1;
  std::string out = "# from each node (row) to each node (column)\n";
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const bool inside = i + 1 < n && j + 1 < n;
      out += inside ? fmt::format("{:.6f}", matrix.rows[i][j]) : std::string("nan");
      out += j + 1 < n ? "\t" : "\n";
    }
  }
  return out;
}

}  // namespace espalier::sampling
