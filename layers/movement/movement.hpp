#pragma once

#include <functional>
#include <span>

#include "graphs/ir/layer.hpp"
#include "layers/common/permute.hpp"
#include "layers/movement/strided_copy.hpp"

/// What the operators that only move elements share. Each of them states where an output element comes from
/// twice: as strided copies ("strided", fast) and as a literal index map ("reference").
namespace espalier {

/// The operators of this folder.
std::span<const Layer> movement_layers();

/// One strided copy from an input to an output.
struct Move {
  int input = 0;
  int output = 0;
  CopyPlan plan;
};
/// Runs the moves in order. With `fill_input` >= 0 output 0 is first filled with that input's one element
/// (zeros where the input is absent); -1: no filling.
std::unique_ptr<Kernel> make_copy_kernel(const NodeView& view, std::vector<Move> moves, bool fill = false,
                                         int fill_input = -1);

/// Where an output element comes from; input -1 is the fill value.
struct Source {
  int input = 0;
  std::int64_t element = 0;
};
using SourceMap = std::function<Source(int output, std::span<const std::int64_t> index)>;
/// Asks `map` for every element of every output, one at a time.
std::unique_ptr<Kernel> make_index_kernel(const NodeView& view, SourceMap map, int fill_input = -1);

/// Copies input 0 to output 0 byte by byte unless they are one; in place.
std::unique_ptr<Kernel> make_alias_kernel(const NodeView& view);

/// No flops; every run-time input read and every output written once.
LayerCost movement_cost(const NodeView& view);
/// Nothing moves.
LayerCost alias_cost(const NodeView& view);

std::string never_refuses(const NodeView& view, const KernelOptions& options);

/// Row-major offset of an index.
std::int64_t offset_of(std::span<const std::int64_t> index, std::span<const std::int64_t> strides);
/// Replaces input i of the node by a new int64 vector constant.
void replace_constant(Graph& graph, Node& node, std::size_t i, const std::vector<std::int64_t>& values);
/// The int64 values of a constant input of rank 0 or 1. InputError when it is not known or no vector.
std::vector<std::int64_t> constant_vector(const NodeView& view, std::size_t i, std::string_view what);
/// True when every input but the first is absent or constant.
bool others_are_constant(const Graph& graph, const Node& node);

Layer concat_layer();
Layer split_layer();
Layer slice_layer();
Layer pad_layer();
Layer transpose_layer();
/// TransposeRows: rows `rows` = [begin, end) of axis 1 of the output of the Transpose with the same perm.
/// Lowering makes it of a Transpose that several workers share.
Layer transpose_rows_layer();
Layer reshape_layer();
Layer flatten_layer();
Layer squeeze_layer();
Layer unsqueeze_layer();
Layer expand_layer();
Layer tile_layer();
Layer depth_to_space_layer();
Layer space_to_depth_layer();
Layer gather_layer();
Layer gather_elements_layer();
Layer gather_nd_layer();
Layer scatter_elements_layer();
Layer scatter_nd_layer();
Layer resize_layer();
Layer shape_layer();
Layer size_layer();
Layer constant_of_shape_layer();
Layer range_layer();
Layer one_hot_layer();
Layer eye_like_layer();
Layer trilu_layer();
Layer reverse_sequence_layer();
Layer non_zero_layer();

}  // namespace espalier
