#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer_reshape(const NodeView& view) {
  const Shape& in = view.shape(0);
  std::vector<std::int64_t> dims = constant_vector(view, 1, "shape");
  const auto fail = [&](const char* why) {
    throw InputError(fmt::format("input of shape {} ({} elements) cannot become [{}]: {}", in.to_string(),
                                 in.elements(), fmt::join(constant_vector(view, 1, "shape"), ", "), why));
  };
  const bool keep_zero = view.attributes().get_int("allowzero", 0) != 0;
  int unknown = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !keep_zero) {
      if (static_cast<int>(i) >= in.rank()) fail("0 copies an extent that the input lacks");
      dims[i] = in[static_cast<int>(i)];
    } else if (dims[i] == -1) {
      if (unknown >= 0) fail("-1 stands twice");
      unknown = static_cast<int>(i);
      dims[i] = 1;
    } else if (dims[i] < 0) {
      fail("an extent is negative");
    }
  }
  const std::int64_t known = Shape(dims).elements();
  if (unknown >= 0) {
    if (known == 0 || in.elements() % known != 0) fail("-1 has no value that fits");
    dims[static_cast<std::size_t>(unknown)] = in.elements() / known;
  } else if (known != in.elements()) {
    fail("the numbers of elements differ");
  }
  return {{view.inputs[0]->dtype, Shape(std::move(dims))}};
}

std::vector<TensorType> infer_flatten(const NodeView& view) {
  const Shape& in = view.shape(0);
  const std::int64_t given = view.attributes().get_int("axis", 1);
  if (given < -in.rank() || given > in.rank())
    throw InputError(fmt::format("axis {} is outside [{}, {}] of an input of shape {}", given, -in.rank(),
                                 in.rank(), in.to_string()));
  const int axis = static_cast<int>(given < 0 ? given + in.rank() : given);
  return {{view.inputs[0]->dtype, Shape{in.elements(0, axis), in.elements(axis, in.rank())}}};
}

/// For each axis of a tensor of this rank whether axes names it.
std::vector<bool> named_axes(const std::vector<std::int64_t>& axes, int rank) {
  std::vector<bool> named(static_cast<std::size_t>(rank), false);
  for (std::int64_t axis : axes) {
    const auto a = static_cast<std::size_t>(normalise_axis(axis, rank, "axes entry"));
    if (named[a]) throw InputError(fmt::format("axes [{}] names axis {} twice", fmt::join(axes, ", "), a));
    named[a] = true;
  }
  return named;
}

std::vector<bool> squeezed_axes(const Shape& in, const std::vector<std::int64_t>* axes) {
  if (axes != nullptr) return named_axes(*axes, in.rank());
  std::vector<bool> named;
  for (std::int64_t n : in) named.push_back(n == 1);
  return named;
}

std::vector<TensorType> infer_squeeze(const NodeView& view) {
  const Shape& in = view.shape(0);
  std::vector<std::int64_t> axes;
  if (view.has_input(1)) axes = constant_vector(view, 1, "axes");
  const std::vector<bool> named = squeezed_axes(in, view.has_input(1) ? &axes : nullptr);
  std::vector<std::int64_t> dims;
  for (int a = 0; a < in.rank(); ++a) {
    if (!named[static_cast<std::size_t>(a)]) {
      dims.push_back(in[a]);
    } else if (in[a] != 1) {
      throw InputError(fmt::format("axis {} of shape {} has extent {}; only an extent of 1 can be squeezed",
                                   a, in.to_string(), in[a]));
    }
  }
  return {{view.inputs[0]->dtype, Shape(std::move(dims))}};
}

std::vector<TensorType> infer_unsqueeze(const NodeView& view) {
  const Shape& in = view.shape(0);
  const std::vector<std::int64_t> axes = constant_vector(view, 1, "axes");
  const std::vector<bool> named = named_axes(axes, in.rank() + static_cast<int>(axes.size()));
  std::vector<std::int64_t> dims;
  int next = 0;
  for (bool is_new : named) dims.push_back(is_new ? 1 : in[next++]);
  return {{view.inputs[0]->dtype, Shape(std::move(dims))}};
}

/// The permutation without the squeezed axes, renumbered; axes follow their new places.
std::optional<std::vector<int>> permute_squeeze(Graph& graph, Node& node, std::span<const int> perm) {
  const auto rank = static_cast<int>(perm.size());
  if (node.inputs.size() < 2 || node.inputs[1] == kAbsent || graph.constant(node.inputs[1]) == nullptr)
    return std::nullopt;
  const std::vector<int> inverse = inverse_permutation(perm);
  std::vector<std::int64_t> axes = graph.constant(node.inputs[1])->to_int64();
  const std::vector<bool> named = named_axes(axes, rank);
  for (std::int64_t& a : axes) a = inverse[static_cast<std::size_t>(normalise_axis(a, rank))];
  replace_constant(graph, node, 1, axes);
  std::vector<int> rest;
  for (int p : perm) {
    if (named[static_cast<std::size_t>(p)]) continue;
    rest.push_back(static_cast<int>(std::count(named.begin(), named.begin() + p, false)));
  }
  return rest;
}

/// New axes keep their places in the output; the old axes are permuted among the others.
std::optional<std::vector<int>> permute_unsqueeze(Graph& graph, Node& node, std::span<const int> perm) {
  const Tensor* axes = graph.constant(node.inputs[1]);
  if (axes == nullptr) return std::nullopt;
  const std::vector<bool> named =
      named_axes(axes->to_int64(), static_cast<int>(perm.size()) + static_cast<int>(axes->elements()));
  std::vector<int> old_place;
  for (std::size_t a = 0; a < named.size(); ++a)
    if (!named[a]) old_place.push_back(static_cast<int>(a));
  std::vector<int> out;
  std::size_t next = 0;
  for (std::size_t a = 0; a < named.size(); ++a)
    out.push_back(named[a] ? static_cast<int>(a) : old_place[static_cast<std::size_t>(perm[next++])]);
  return out;
}

std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext&) {
  return make_alias_kernel(view);
}

constexpr Implementation kImplementations[] = {{"reference", never_refuses, prepare}};

Layer alias_layer(std::string_view op, std::string_view summary,
                  std::vector<TensorType> (*infer)(const NodeView&)) {
  Layer layer;
  layer.op = op;
  layer.summary = summary;
  layer.alias = true;
  layer.infer = infer;
  layer.cost = alias_cost;
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace

Layer reshape_layer() {
  Layer layer = alias_layer("Reshape", "the same elements under another shape", infer_reshape);
  layer.min_inputs = layer.max_inputs = 2;
  return layer;
}

Layer flatten_layer() {
  return alias_layer("Flatten", "joins the axes before and after one into a matrix", infer_flatten);
}

Layer squeeze_layer() {
  Layer layer = alias_layer("Squeeze", "drops axes of extent 1", infer_squeeze);
  layer.max_inputs = 2;
  layer.layout = LayoutRule::any;
  layer.permute = permute_squeeze;
  return layer;
}

Layer unsqueeze_layer() {
  Layer layer = alias_layer("Unsqueeze", "inserts axes of extent 1", infer_unsqueeze);
  layer.min_inputs = layer.max_inputs = 2;
  layer.layout = LayoutRule::any;
  layer.permute = permute_unsqueeze;
  return layer;
}

}  // namespace espalier
