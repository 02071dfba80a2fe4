#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

// ---- Expand

std::vector<TensorType> infer_expand(const NodeView& view) {
  const std::vector<std::int64_t> target = constant_vector(view, 1, "shape");
  for (std::int64_t n : target)
    if (n < 0) throw InputError(fmt::format("shape [{}] has a negative extent", fmt::join(target, ", ")));
  return {{view.inputs[0]->dtype, broadcast(view.shape(0), Shape(target))}};
}

/// Strides of the input under the output's axes: zero where it is broadcast.
std::vector<std::int64_t> expand_strides(const NodeView& view) {
  const Shape& in = view.shape(0);
  const int lead = view.outputs[0]->shape.rank() - in.rank();
  const std::vector<std::int64_t> strides = in.strides();
  std::vector<std::int64_t> out(static_cast<std::size_t>(lead), 0);
  for (int a = 0; a < in.rank(); ++a) out.push_back(in[a] == 1 ? 0 : strides[static_cast<std::size_t>(a)]);
  return out;
}

std::unique_ptr<Kernel> prepare_expand(const NodeView& view, PrepareContext&) {
  const Shape& out = view.outputs[0]->shape;
  return make_copy_kernel(
      view,
      {{0, 0,
        CopyPlan({out.dims(), out.strides(), expand_strides(view), 0, 0, size_of(view.inputs[0]->dtype)})}});
}

std::unique_ptr<Kernel> prepare_expand_reference(const NodeView& view, PrepareContext&) {
  return make_index_kernel(
      view, [strides = expand_strides(view)](int, std::span<const std::int64_t> index) -> Source {
        return {0, offset_of(index, strides)};
      });
}

std::optional<std::vector<int>> permute_expand(Graph& graph, Node& node, std::span<const int> perm) {
  if (!others_are_constant(graph, node)) return std::nullopt;
  std::vector<std::int64_t> target = graph.constant(node.inputs[1])->to_int64();
  if (target.size() > perm.size()) return std::nullopt;
  target.insert(target.begin(), perm.size() - target.size(), 1);
  std::vector<std::int64_t> moved;
  for (int p : perm) moved.push_back(target[static_cast<std::size_t>(p)]);
  replace_constant(graph, node, 1, moved);
  return std::vector<int>(perm.begin(), perm.end());
}

// ---- Tile

std::vector<TensorType> infer_tile(const NodeView& view) {
  const std::vector<std::int64_t> repeats = constant_vector(view, 1, "repeats");
  TensorType out = *view.inputs[0];
  if (static_cast<int>(repeats.size()) != out.shape.rank())
    throw InputError(fmt::format("repeats has {} entries; an input of shape {} needs {}", repeats.size(),
                                 out.shape.to_string(), out.shape.rank()));
  for (int a = 0; a < out.shape.rank(); ++a) {
    const std::int64_t r = repeats[static_cast<std::size_t>(a)];
    if (r < 0 || __builtin_mul_overflow(out.shape[a], r, &out.shape[a]))
      throw InputError(fmt::format("repeats [{}] cannot be applied to shape {}", fmt::join(repeats, ", "),
                                   view.shape(0).to_string()));
  }
  return {out};
}

/// Each axis becomes the pair (repeat, position): the repeat does not move the source.
std::unique_ptr<Kernel> prepare_tile(const NodeView& view, PrepareContext&) {
  const Shape& in = view.shape(0);
  const std::vector<std::int64_t> repeats = constant_vector(view, 1, "repeats");
  const std::vector<std::int64_t> src = in.strides();
  const std::vector<std::int64_t> dst = view.outputs[0]->shape.strides();
  StridedCopy copy;
  copy.element_bytes = size_of(view.inputs[0]->dtype);
  for (std::size_t a = 0; a < repeats.size(); ++a) {
    const std::int64_t n = in.dims()[a];
    copy.extents.insert(copy.extents.end(), {repeats[a], n});
    copy.dst_strides.insert(copy.dst_strides.end(), {dst[a] * n, dst[a]});
    copy.src_strides.insert(copy.src_strides.end(), {0, src[a]});
  }
  return make_copy_kernel(view, {{0, 0, CopyPlan(std::move(copy))}});
}

std::unique_ptr<Kernel> prepare_tile_reference(const NodeView& view, PrepareContext&) {
  return make_index_kernel(view,
                           [in = view.shape(0), strides = view.shape(0).strides()](
                               int, std::span<const std::int64_t> index) -> Source {
                             std::int64_t element = 0;
                             for (std::size_t a = 0; a < index.size(); ++a)
                               element += index[a] % in.dims()[a] * strides[a];
                             return {0, element};
                           });
}

std::optional<std::vector<int>> permute_tile(Graph& graph, Node& node, std::span<const int> perm) {
  if (!others_are_constant(graph, node)) return std::nullopt;
  const std::vector<std::int64_t> repeats = graph.constant(node.inputs[1])->to_int64();
  std::vector<std::int64_t> moved;
  for (int p : perm) moved.push_back(repeats[static_cast<std::size_t>(p)]);
  replace_constant(graph, node, 1, moved);
  return std::vector<int>(perm.begin(), perm.end());
}

constexpr Implementation kExpand[] = {{"strided", never_refuses, prepare_expand},
                                      {"reference", never_refuses, prepare_expand_reference}};
constexpr Implementation kTile[] = {{"strided", never_refuses, prepare_tile},
                                    {"reference", never_refuses, prepare_tile_reference}};

}  // namespace

Layer expand_layer() {
  return {.op = "Expand",
          .summary = "broadcasts to a shape",
          .min_inputs = 2,
          .max_inputs = 2,
          .layout = LayoutRule::any,
          .infer = infer_expand,
          .cost = movement_cost,
          .permute = permute_expand,
          .implementations = kExpand};
}

Layer tile_layer() {
  return {.op = "Tile",
          .summary = "repeats a tensor along each axis",
          .min_inputs = 2,
          .max_inputs = 2,
          .layout = LayoutRule::any,
          .infer = infer_tile,
          .cost = movement_cost,
          .permute = permute_tile,
          .implementations = kTile};
}

}  // namespace espalier
