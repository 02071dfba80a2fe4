#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

int axis_of(const NodeView& view) {
  return normalise_axis(view.attributes().get_int("axis", 0), view.shape(0).rank());
}

/// Extents of the parts along the axis: the split input, or equal parts of which the last is the smaller.
std::vector<std::int64_t> parts_of(const NodeView& view) {
  const std::int64_t extent = view.shape(0)[axis_of(view)];
  const auto outputs = static_cast<std::int64_t>(view.node.outputs.size());
  if (view.has_input(1)) {
    std::vector<std::int64_t> parts = constant_vector(view, 1, "split");
    std::int64_t sum = 0;
    for (std::int64_t p : parts)
      if (p < 0 || p > extent || (sum += p) > extent) sum = extent + 1;
    if (static_cast<std::int64_t>(parts.size()) != outputs || sum != extent)
      throw InputError(fmt::format("split [{}] does not cut axis {} of {} into {} outputs",
                                   fmt::join(parts, ", "), axis_of(view), view.shape(0).to_string(),
                                   outputs));
    return parts;
  }
  const std::int64_t n = view.attributes().get_int("num_outputs", outputs);
  if (n != outputs || n < 1)
    throw InputError(fmt::format("num_outputs is {} but the node has {} outputs", n, outputs));
  const std::int64_t chunk = (extent + n - 1) / n;
  std::vector<std::int64_t> parts;
  for (std::int64_t left = extent; static_cast<std::int64_t>(parts.size()) < n; left -= parts.back())
    parts.push_back(std::min(chunk, left));
  return parts;
}

std::vector<TensorType> infer(const NodeView& view) {
  std::vector<TensorType> out;
  if (view.shape(0).rank() == 0) throw InputError("input 0 is a scalar; Split needs at least one axis");
  for (std::int64_t part : parts_of(view)) {
    out.push_back(*view.inputs[0]);
    out.back().shape[axis_of(view)] = part;
  }
  return out;
}

std::unique_ptr<Kernel> prepare_strided(const NodeView& view, PrepareContext&) {
  const auto axis = static_cast<std::size_t>(axis_of(view));
  const std::vector<std::int64_t> src = view.shape(0).strides();
  const std::vector<std::int64_t> parts = parts_of(view);
  std::vector<Move> moves;
  std::int64_t at = 0;
  for (std::size_t o = 0; o < parts.size(); ++o) {
    Shape out = view.shape(0);
    out[static_cast<int>(axis)] = parts[o];
    moves.push_back(
        {0, static_cast<int>(o),
         CopyPlan({out.dims(), out.strides(), src, 0, at * src[axis], size_of(view.inputs[0]->dtype)})});
    at += parts[o];
  }
  return make_copy_kernel(view, std::move(moves));
}

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  const auto axis = static_cast<std::size_t>(axis_of(view));
  return make_index_kernel(view,
                           [axis, strides = view.shape(0).strides(), parts = parts_of(view)](
                               int output, std::span<const std::int64_t> index) -> Source {
                             std::int64_t element = offset_of(index, strides);
                             for (int o = 0; o < output; ++o)
                               element += parts[static_cast<std::size_t>(o)] * strides[axis];
                             return {0, element};
                           });
}

std::optional<std::vector<int>> permute(Graph&, Node& node, std::span<const int> perm) {
  const int axis = normalise_axis(node.attributes.get_int("axis", 0), static_cast<int>(perm.size()));
  node.attributes.set("axis", std::int64_t{inverse_permutation(perm)[static_cast<std::size_t>(axis)]});
  return std::vector<int>(perm.begin(), perm.end());
}

constexpr Implementation kImplementations[] = {{"strided", never_refuses, prepare_strided},
                                               {"reference", never_refuses, prepare_reference}};

}  // namespace

Layer split_layer() {
  return {.op = "Split",
          .summary = "cuts a tensor along an axis",
          .max_inputs = 2,
          .max_outputs = 1 << 20,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost = movement_cost,
          .permute = permute,
          .implementations = kImplementations};
}

}  // namespace espalier
