#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "graphs/base/error.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

struct Cut {
  std::vector<std::int64_t> start, step, count;  // by axis of the input
};

std::vector<std::int64_t> optional_vector(const NodeView& view, std::size_t i, const char* what,
                                          std::vector<std::int64_t> fallback) {
  if (!view.has_input(i)) return fallback;
  std::vector<std::int64_t> values = constant_vector(view, i, what);
  if (values.size() != fallback.size())
    throw InputError(
        fmt::format("{} has {} entries but starts has {}", what, values.size(), fallback.size()));
  return values;
}

/// One axis as ONNX clamps it: a forward slice stays in [0, n], a backward one in [-1, n-1].
void cut_axis(Cut& cut, std::size_t axis, std::int64_t n, std::int64_t start, std::int64_t end,
              std::int64_t step) {
  if (step == 0) throw InputError(fmt::format("steps has a 0 for axis {}", axis));
  step = std::clamp(step, -std::max<std::int64_t>(n, 1), std::max<std::int64_t>(n, 1));
  if (start < 0) start += n;
  if (end < 0) end += n;
  if (n == 0) {
    start = end = 0;
  } else if (step > 0) {
    start = std::clamp<std::int64_t>(start, 0, n);
    end = std::clamp<std::int64_t>(end, 0, n);
  } else {
    start = std::clamp<std::int64_t>(start, 0, n - 1);
    end = std::clamp<std::int64_t>(end, -1, n - 1);
  }
  const std::int64_t span = step > 0 ? end - start : start - end;
  cut.start[axis] = start;
  cut.step[axis] = step;
  cut.count[axis] = span <= 0 ? 0 : (span - 1) / std::abs(step) + 1;
}

Cut cut_of(const NodeView& view) {
  const Shape& in = view.shape(0);
  const std::vector<std::int64_t> starts = constant_vector(view, 1, "starts");
  if (!view.has_input(2)) throw InputError("input ends is absent");
  const std::vector<std::int64_t> ends = optional_vector(view, 2, "ends", starts);
  std::vector<std::int64_t> axes(starts.size());
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  axes = optional_vector(view, 3, "axes", std::move(axes));
  const std::vector<std::int64_t> steps =
      optional_vector(view, 4, "steps", std::vector<std::int64_t>(starts.size(), 1));
  const auto rank = static_cast<std::size_t>(in.rank());
  Cut cut{std::vector<std::int64_t>(rank, 0), std::vector<std::int64_t>(rank, 1), in.dims()};
  std::vector<bool> seen(rank, false);
  for (std::size_t k = 0; k < starts.size(); ++k) {
    const int axis = normalise_axis(axes[k], in.rank(), "axes entry");
    const auto a = static_cast<std::size_t>(axis);
    if (seen[a]) throw InputError(fmt::format("axes names axis {} twice", axis));
    seen[a] = true;
    cut_axis(cut, a, in[axis], starts[k], ends[k], steps[k]);
  }
  return cut;
}

std::vector<TensorType> infer(const NodeView& view) {
  return {{view.inputs[0]->dtype, Shape(cut_of(view).count)}};
}

/// Offset of the first element and strides of the view on the source.
std::pair<std::int64_t, std::vector<std::int64_t>> source_view(const Cut& cut, const Shape& in) {
  std::vector<std::int64_t> strides = in.strides();
  std::int64_t offset = 0;
  for (std::size_t a = 0; a < strides.size(); ++a) {
    offset += cut.start[a] * strides[a];
    strides[a] *= cut.step[a];
  }
  return {offset, strides};
}

std::unique_ptr<Kernel> prepare_strided(const NodeView& view, PrepareContext&) {
  const Cut cut = cut_of(view);
  const auto [offset, strides] = source_view(cut, view.shape(0));
  return make_copy_kernel(view, {{0, 0,
                                  CopyPlan({cut.count, view.outputs[0]->shape.strides(), strides, 0, offset,
                                            size_of(view.inputs[0]->dtype)})}});
}

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return make_index_kernel(view,
                           [cut = cut_of(view), strides = view.shape(0).strides()](
                               int, std::span<const std::int64_t> index) -> Source {
                             std::int64_t element = 0;
                             for (std::size_t a = 0; a < index.size(); ++a)
                               element += (cut.start[a] + index[a] * cut.step[a]) * strides[a];
                             return {0, element};
                           });
}

std::optional<std::vector<int>> permute(Graph& graph, Node& node, std::span<const int> perm) {
  if (!others_are_constant(graph, node)) return std::nullopt;
  const auto rank = static_cast<int>(perm.size());
  std::vector<std::int64_t> axes;
  if (node.inputs.size() > 3 && node.inputs[3] != kAbsent) {
    axes = graph.constant(node.inputs[3])->to_int64();
  } else {
    axes.resize(static_cast<std::size_t>(graph.constant(node.inputs[1])->elements()));
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  const std::vector<int> inverse = inverse_permutation(perm);
  for (std::int64_t& a : axes) a = inverse[static_cast<std::size_t>(normalise_axis(a, rank))];
  if (node.inputs.size() < 4) node.inputs.resize(4, kAbsent);
  replace_constant(graph, node, 3, axes);
  return std::vector<int>(perm.begin(), perm.end());
}

constexpr Implementation kImplementations[] = {{"strided", never_refuses, prepare_strided},
                                               {"reference", never_refuses, prepare_reference}};

}  // namespace

Layer slice_layer() {
  return {.op = "Slice",
          .summary = "takes a strided range along axes",
          .min_inputs = 3,
          .max_inputs = 5,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost =
              [](const NodeView& view) {
                const Bytes out(view.outputs[0]->bytes());
                return LayerCost{Flops(0), out, out};
              },
          .permute = permute,
          .implementations = kImplementations};
}

}  // namespace espalier
