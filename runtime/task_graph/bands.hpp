#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// A value that is a part of another one's memory.
struct View {
  ValueId parent = kAbsent;
  std::int64_t offset = 0;  ///< bytes from the parent's first
};

/// A graph in which nodes were replaced by several that write disjoint parts of the same value.
struct BandedGraph {
  Graph graph;
  std::map<ValueId, View> views;    ///< written parts and the ranges that are read
  std::vector<std::int32_t> lanes;  ///< by node: which part it is of the node that it was, -1: whole
};

/// Splits the nodes of a bound graph over one image, so that `bands` workers share it: spatial operators,
/// element-wise ones and concatenations of channels by rows (axis 1 of [1, H, ..., C], where a range of rows
/// is contiguous), with the halo that the rows of a convolution or a pool need; global averages by partial
/// averages; dense layers over one row by output columns. What cannot be split, or is not worth two tasks
/// (`seconds` by node), stays whole. Results are equal up to the rounding of global averages.
BandedGraph split_into_bands(const Graph& graph, const LayerTable& layers, unsigned bands,
                             std::span<const double> seconds);

struct RowRange {
  std::int64_t begin = 0, end = 0;
};

/// A node reduced to some rows of its output: the rows that it needs of each input (none: all of the input)
/// and the attributes of the smaller problem.
struct BandOfNode {
  std::vector<std::optional<RowRange>> inputs;
  Attributes attributes;
  std::string op;  ///< empty: the node's own
};
/// nullopt when the node cannot be computed row by row.
std::optional<BandOfNode> band_of_node(const Graph& graph, const Node& node, RowRange rows);

}  // namespace espalier
