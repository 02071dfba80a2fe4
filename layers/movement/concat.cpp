#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

int axis_of(const NodeView& view) {
  return normalise_axis(view.attributes().get_int("axis"), view.shape(0).rank());
}

std::vector<TensorType> infer(const NodeView& view) {
  TensorType out = *view.inputs[0];
  if (out.shape.rank() == 0) throw InputError("input 0 is a scalar; Concat needs at least one axis");
  const int axis = axis_of(view);
  for (std::size_t i = 1; i < view.inputs.size(); ++i) {
    if (!view.has_input(i)) throw InputError(fmt::format("input {} is absent", i));
    const TensorType& in = *view.inputs[i];
    Shape rest = in.shape;
    if (in.dtype != out.dtype || rest.rank() != out.shape.rank())
      throw InputError(fmt::format("input {} is {}, which does not join {} along axis {}", i, in.to_string(),
                                   view.inputs[0]->to_string(), axis));
    rest[axis] = out.shape[axis];
    if (rest != out.shape)
      throw InputError(fmt::format("input {} has shape {}; only axis {} may differ from input 0's shape {}",
                                   i, in.shape.to_string(), axis, view.shape(0).to_string()));
    out.shape[axis] += in.shape[axis];
  }
  return {out};
}

std::unique_ptr<Kernel> prepare_strided(const NodeView& view, PrepareContext&) {
  const int axis = axis_of(view);
  const std::vector<std::int64_t> dst = view.outputs[0]->shape.strides();
  std::vector<Move> moves;
  std::int64_t at = 0;
  for (std::size_t i = 0; i < view.inputs.size(); ++i) {
    const Shape& in = view.shape(i);
    moves.push_back({static_cast<int>(i), 0,
                     CopyPlan({in.dims(), dst, in.strides(), at * dst[static_cast<std::size_t>(axis)], 0,
                               size_of(view.outputs[0]->dtype)})});
    at += in[axis];
  }
  return make_copy_kernel(view, std::move(moves));
}

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  const auto axis = static_cast<std::size_t>(axis_of(view));
  std::vector<Shape> shapes;
  for (const TensorType* type : view.inputs) shapes.push_back(type->shape);
  return make_index_kernel(view, [axis, shapes](int, std::span<const std::int64_t> index) -> Source {
    std::vector<std::int64_t> at(index.begin(), index.end());
    int i = 0;
    while (at[axis] >= shapes[static_cast<std::size_t>(i)].dims()[axis])
      at[axis] -= shapes[static_cast<std::size_t>(i++)].dims()[axis];
    return {i, offset_of(at, shapes[static_cast<std::size_t>(i)].strides())};
  });
}

std::optional<std::vector<int>> permute(Graph& graph, Node& node, std::span<const int> perm) {
  const auto rank = static_cast<int>(perm.size());
  const int axis = normalise_axis(node.attributes.get_int("axis"), rank);
  for (ValueId& input : node.inputs)
    if (const Tensor* constant = graph.constant(input))
      input = graph.add_constant(node.name + ".permuted", permuted_tensor(*constant, perm));
  node.attributes.set("axis", std::int64_t{inverse_permutation(perm)[static_cast<std::size_t>(axis)]});
  return std::vector<int>(perm.begin(), perm.end());
}

constexpr Implementation kImplementations[] = {{"strided", never_refuses, prepare_strided},
                                               {"reference", never_refuses, prepare_reference}};

}  // namespace

Layer concat_layer() {
  return {.op = "Concat",
          .summary = "joins tensors along an axis",
          .max_inputs = 1 << 20,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost = movement_cost,
          .permute = permute,
          .implementations = kImplementations};
}

}  // namespace espalier
