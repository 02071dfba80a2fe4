#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/reduce/axis_layers.hpp"
#include "layers/reduce/one_axis.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer(const NodeView& view) {
  const OneAxis axis = axis_of(view, 0, Numeric{});
  if (axis.extent == 0)
    throw InputError(fmt::format("{}: axis {} is empty", view.inputs[0]->to_string(), axis.index));
  std::vector<bool> reduced(static_cast<std::size_t>(view.shape(0).rank()), false);
  reduced[static_cast<std::size_t>(axis.index)] = true;
  const bool keepdims = view.attributes().get_int("keepdims", 1) != 0;
  return {{DType::i64, reduced_shape(view.shape(0), reduced, keepdims)}};
}

/// Whether x takes the place of the best so far. NaN counts as the extreme, as in NumPy.
template <bool greatest, bool last, class C>
bool better(C x, C best) {
  if constexpr (std::is_floating_point_v<C>) {
    if (std::isnan(best)) return last && std::isnan(x);
    if (std::isnan(x)) return true;
  }
  if (last && x == best) return true;
  return greatest ? x > best : x < best;
}

using Run = void (*)(const void* x, std::int64_t* y, const OneAxis& axis);

template <bool greatest, bool last, class T>
void run_arg(const void* px, std::int64_t* y, const OneAxis& axis) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(px);
  for (std::int64_t o = 0; o < axis.outer; ++o, x += axis.extent * axis.inner, y += axis.inner) {
    std::fill_n(y, axis.inner, 0);
    for (std::int64_t k = 1; k < axis.extent; ++k)
      for (std::int64_t i = 0; i < axis.inner; ++i)
        if (better<greatest, last>(C(x[k * axis.inner + i]), C(x[y[i] * axis.inner + i]))) y[i] = k;
  }
}

Run run_of(const NodeView& view) {
  const bool greatest = view.op() == "ArgMax";
  const bool last = view.attributes().get_int("select_last_index", 0) != 0;
  return dispatch(Numeric{}, view.inputs[0]->dtype, [&](auto tag) -> Run {
    using T = typename decltype(tag)::type;
    if (greatest) return last ? &run_arg<true, true, T> : &run_arg<true, false, T>;
    return last ? &run_arg<false, true, T> : &run_arg<false, false, T>;
  });
}

class ArgKernel final : public Kernel {
 public:
  explicit ArgKernel(const NodeView& view) : axis_(axis_of(view, 0, Numeric{})), run_(run_of(view)) {}
  void run(const KernelArguments& arguments) override {
    run_(arguments.inputs[0], static_cast<std::int64_t*>(arguments.outputs[0]), axis_);
  }

 private:
  OneAxis axis_;
  Run run_;
};

const Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<ArgKernel>(view);
     }},
};

/// The axis is renamed; without keepdims the permutation of what is left follows.
std::optional<std::vector<int>> permute(Graph& graph, Node& node, std::span<const int> perm) {
  const auto renamed = permute_axis(graph, node, perm, 0);
  if (!renamed || node.attributes.get_int("keepdims", 1) != 0) return renamed;
  return without_axis(perm, perm[static_cast<std::size_t>(node.attributes.get_int("axis"))]);
}

}  // namespace

Layer arg_layer(std::string_view op, std::string_view summary) {
  Layer layer;
  layer.op = op;
  layer.summary = summary;
  layer.layout = LayoutRule::any;
  layer.infer = infer;
  layer.cost = axis_cost;
  layer.permute = permute;
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace espalier
