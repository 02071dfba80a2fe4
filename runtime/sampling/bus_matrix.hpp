#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace espalier::sampling {

/// HOST.bandwidth (MB/s) or HOST.latency (us) between StarPU's memory nodes, row: from, column: to. Node 0 is
/// main memory, then come the GPUs; what no node stands for is nan.
struct BusMatrix {
  std::vector<std::vector<double>> rows;
  double at(std::size_t from, std::size_t to) const { return rows[from][to]; }
};

/// `name` stands in front of errors. InputError with the line for what is no number, rows of different
/// lengths, fewer than `nodes` rows or columns, and nan or, between different nodes, less than
/// `least` among the first `nodes`.
BusMatrix read_bus_matrix(std::string_view text, const std::string& name, std::size_t nodes, double least);

/// As StarPU reads it: one row and one column of nan behind the last, which its parser takes for padding.
std::string bus_matrix_to_text(const BusMatrix& matrix);

}  // namespace espalier::sampling
