#include <algorithm>
#include <fmt/format.h>
#include <numeric>

#include "graphs/base/error.hpp"
#include "layers/movement/mapped_copy.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

enum class Mode { constant, reflect, edge, wrap };

struct Padding {
  Mode mode = Mode::constant;
  std::vector<std::int64_t> before, after;  // by axis of the input
};

Mode mode_of(const Attributes& attributes) {
  const std::string name = attributes.get_string("mode", "constant");
  if (name == "constant") return Mode::constant;
  if (name == "reflect") return Mode::reflect;
  if (name == "edge") return Mode::edge;
  if (name == "wrap") return Mode::wrap;
  throw InputError(fmt::format("mode is \"{}\"; accepted are constant, reflect, edge, wrap", name));
}

Padding padding_of(const NodeView& view) {
  constexpr std::int64_t kLimit = std::int64_t{1} << 40;
  const int rank = view.shape(0).rank();
  const std::vector<std::int64_t> pads = constant_vector(view, 1, "pads");
  std::vector<std::int64_t> axes(static_cast<std::size_t>(rank));
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  if (view.has_input(3)) axes = constant_vector(view, 3, "axes");
  if (pads.size() != 2 * axes.size())
    throw InputError(fmt::format("pads has {} entries; {} axes of an input of shape {} need {}", pads.size(),
                                 axes.size(), view.shape(0).to_string(), 2 * axes.size()));
  Padding padding{
      mode_of(view.attributes()), std::vector<std::int64_t>(static_cast<std::size_t>(rank), 0), {}};
  padding.after = padding.before;
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const auto a = static_cast<std::size_t>(normalise_axis(axes[k], rank, "axes entry"));
    padding.before[a] = pads[k];
    padding.after[a] = pads[k + axes.size()];
    if (std::abs(padding.before[a]) > kLimit || std::abs(padding.after[a]) > kLimit)
      throw InputError(
          fmt::format("pads {} and {} of axis {} are too large", pads[k], pads[k + axes.size()], a));
  }
  return padding;
}

std::vector<TensorType> infer(const NodeView& view) {
  const Padding padding = padding_of(view);
  TensorType out = *view.inputs[0];
  for (int a = 0; a < out.shape.rank(); ++a) {
    const auto k = static_cast<std::size_t>(a);
    const std::int64_t n = out.shape[a];
    out.shape[a] = n + padding.before[k] + padding.after[k];
    const bool grows = padding.before[k] > 0 || padding.after[k] > 0;
    if (out.shape[a] < 0 || (n == 0 && grows && padding.mode != Mode::constant))
      throw InputError(fmt::format("pads {} and {} do not fit axis {} of shape {}", padding.before[k],
                                   padding.after[k], a, view.shape(0).to_string()));
  }
  if (view.has_input(2) && view.inputs[2]->dtype != out.dtype)
    throw InputError(fmt::format("constant_value is {} but the data {}", view.inputs[2]->to_string(),
                                 view.inputs[0]->to_string()));
  if (view.has_input(2) && view.inputs[2]->shape.elements() != 1)
    throw InputError(
        fmt::format("constant_value has shape {}; one element is needed", view.inputs[2]->shape.to_string()));
  return {out};
}

/// Source position of output position i along an axis of n elements, -1 for the fill value.
std::int64_t source_position(Mode mode, std::int64_t i, std::int64_t before, std::int64_t n) {
  std::int64_t p = i - before;
  if (p >= 0 && p < n) return p;
  switch (mode) {
    case Mode::constant:
      return -1;
    case Mode::edge:
      return p < 0 ? 0 : n - 1;
    case Mode::wrap:
      return ((p % n) + n) % n;
    case Mode::reflect:
      break;
  }
  if (n == 1) return 0;
  const std::int64_t period = 2 * (n - 1);
  p = ((p % period) + period) % period;
  return p < n ? p : period - p;
}

/// The run of the source that lies inside the output, as one strided copy.
std::unique_ptr<Kernel> prepare_interior(const NodeView& view, PrepareContext&) {
  const Padding padding = padding_of(view);
  const Shape& in = view.shape(0);
  StridedCopy copy{{}, view.outputs[0]->shape.strides(), in.strides(), 0, 0, size_of(view.inputs[0]->dtype)};
  for (int a = 0; a < in.rank(); ++a) {
    const auto k = static_cast<std::size_t>(a);
    const std::int64_t first = std::max<std::int64_t>(0, -padding.before[k]);
    const std::int64_t last = std::min(in[a], in[a] + padding.after[k]);
    copy.extents.push_back(std::max<std::int64_t>(0, last - first));
    copy.src_offset += first * copy.src_strides[k];
    copy.dst_offset += std::max<std::int64_t>(0, padding.before[k]) * copy.dst_strides[k];
  }
  return make_copy_kernel(view, {{0, 0, CopyPlan(std::move(copy))}}, true, 2);
}

std::unique_ptr<Kernel> prepare_mapped(const NodeView& view, PrepareContext&) {
  const Padding padding = padding_of(view);
  std::vector<std::vector<std::int64_t>> positions;
  for (std::size_t a = 0; a < padding.before.size(); ++a) {
    positions.emplace_back();
    for (std::int64_t i = 0; i < view.outputs[0]->shape.dims()[a]; ++i)
      positions.back().push_back(
          source_position(padding.mode, i, padding.before[a], view.shape(0).dims()[a]));
  }
  return make_mapped_kernel(view, positions);
}

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return make_index_kernel(
      view,
      [padding = padding_of(view), in = view.shape(0)](int, std::span<const std::int64_t> index) -> Source {
        std::vector<std::int64_t> at(index.begin(), index.end());
        for (std::size_t a = 0; a < at.size(); ++a) {
          at[a] = source_position(padding.mode, index[a], padding.before[a], in.dims()[a]);
          if (at[a] < 0) return {-1, 0};
        }
        return {0, offset_of(at, in.strides())};
      },
      2);
}

std::optional<std::vector<int>> permute(Graph& graph, Node& node, std::span<const int> perm) {
  const bool axes_given = node.inputs.size() > 3 && node.inputs[3] != kAbsent;
  const Tensor* pads = graph.constant(node.inputs[1]);
  if (pads == nullptr || (axes_given && graph.constant(node.inputs[3]) == nullptr)) return std::nullopt;
  if (node.inputs.size() > 2 && node.inputs[2] != kAbsent && graph.constant(node.inputs[2]) == nullptr)
    return std::nullopt;
  if (axes_given) {
    const std::vector<int> inverse = inverse_permutation(perm);
    std::vector<std::int64_t> axes = graph.constant(node.inputs[3])->to_int64();
    for (std::int64_t& a : axes)
      a = inverse[static_cast<std::size_t>(normalise_axis(a, static_cast<int>(perm.size())))];
    replace_constant(graph, node, 3, axes);
  } else {
    const std::vector<std::int64_t> old = pads->to_int64();
    std::vector<std::int64_t> moved;
    for (int p : perm) moved.push_back(old[static_cast<std::size_t>(p)]);
    for (int p : perm) moved.push_back(old[static_cast<std::size_t>(p) + perm.size()]);
    replace_constant(graph, node, 1, moved);
  }
  return std::vector<int>(perm.begin(), perm.end());
}

std::string refuses_interior(const NodeView& view, const KernelOptions&) {
  return mode_of(view.attributes()) == Mode::constant ? "" : "the mode is not constant";
}

std::string refuses_mapped(const NodeView& view, const KernelOptions&) {
  return mode_of(view.attributes()) != Mode::constant ? "" : "the mode is constant";
}

constexpr Implementation kImplementations[] = {{"strided", refuses_interior, prepare_interior},
                                               {"mapped", refuses_mapped, prepare_mapped},
                                               {"reference", never_refuses, prepare_reference}};

}  // namespace

Layer pad_layer() {
  return {.op = "Pad",
          .summary = "pads or crops: constant, reflect, edge, wrap",
          .min_inputs = 2,
          .max_inputs = 4,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost = movement_cost,
          .permute = permute,
          .implementations = kImplementations};
}

}  // namespace espalier
