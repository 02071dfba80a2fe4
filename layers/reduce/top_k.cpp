#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/reduce/axis_layers.hpp"
#include "layers/reduce/one_axis.hpp"

namespace espalier {
namespace {

std::int64_t k_of(const NodeView& view) {
  const Tensor& k = view.constant(1, "input K");
  if (k.elements() != 1) throw InputError(fmt::format("K is {}; one number is needed", k.type().to_string()));
  return k.to_int64()[0];
}

std::vector<TensorType> infer(const NodeView& view) {
  const OneAxis axis = axis_of(view, -1, Numeric{});
  const std::int64_t k = k_of(view);
  if (k < 0 || k > axis.extent)
    throw InputError(fmt::format("K is {}; axis {} of {} has {} elements", k, axis.index,
                                 view.shape(0).to_string(), axis.extent));
  Shape shape = view.shape(0);
  shape[axis.index] = k;
  return {{view.inputs[0]->dtype, shape}, {DType::i64, shape}};
}

/// A strict weak order in which NaN is above every number and the lower index is first among equals.
template <bool largest, class C>
bool before(C a, std::int64_t ia, C b, std::int64_t ib) {
  if constexpr (std::is_floating_point_v<C>) {
    const bool nan_a = std::isnan(a);
    const bool nan_b = std::isnan(b);
    if (nan_a || nan_b) return nan_a && nan_b ? ia < ib : nan_a == largest;
  }
  if (a == b) return ia < ib;
  return largest ? a > b : a < b;
}

using Run = void (*)(const void* x, void* values, std::int64_t* indices, const OneAxis& axis, std::int64_t k,
                     std::int64_t* order);

/// values and indices may be nullptr; `order` holds extent numbers.
template <bool largest, class T>
void run_top_k(const void* px, void* pv, std::int64_t* indices, const OneAxis& axis, std::int64_t k,
               std::int64_t* order) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(px);
  T* values = static_cast<T*>(pv);
  for (std::int64_t o = 0; o < axis.outer; ++o)
    for (std::int64_t i = 0; i < axis.inner; ++i) {
      const T* line = x + o * axis.extent * axis.inner + i;
      const auto less = [&](std::int64_t a, std::int64_t b) {
        return before<largest>(C(line[a * axis.inner]), a, C(line[b * axis.inner]), b);
      };
      for (std::int64_t n = 0; n < axis.extent; ++n) order[n] = n;
      std::partial_sort(order, order + k, order + axis.extent, less);
      for (std::int64_t n = 0; n < k; ++n) {
        const std::int64_t to = (o * k + n) * axis.inner + i;
        if (values != nullptr) values[to] = line[order[n] * axis.inner];
        if (indices != nullptr) indices[to] = order[n];
      }
    }
}

class TopKKernel final : public Kernel {
 public:
  explicit TopKKernel(const NodeView& view) : axis_(axis_of(view, -1, Numeric{})), k_(k_of(view)) {
    const bool largest = view.attributes().get_int("largest", 1) != 0;
    run_ = dispatch(Numeric{}, view.inputs[0]->dtype, [&](auto tag) -> Run {
      using T = typename decltype(tag)::type;
      return largest ? &run_top_k<true, T> : &run_top_k<false, T>;
    });
  }
  void run(const KernelArguments& arguments) override {
    void* indices = arguments.outputs.size() > 1 ? arguments.outputs[1] : nullptr;
    run_(arguments.inputs[0], arguments.outputs[0], static_cast<std::int64_t*>(indices), axis_, k_,
         static_cast<std::int64_t*>(arguments.scratch));
  }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(axis_.extent) * sizeof(std::int64_t);
  }

 private:
  OneAxis axis_;
  std::int64_t k_;
  Run run_ = nullptr;
};

const Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<TopKKernel>(view);
     }},
};

}  // namespace

Layer top_k_layer() {
  Layer layer;
  layer.op = "TopK";
  layer.summary = "the k greatest along an axis and their indices";
  layer.min_inputs = layer.max_inputs = 2;
  layer.max_outputs = 2;
  layer.layout = LayoutRule::any;
  layer.infer = infer;
  layer.cost = axis_cost;
  layer.permute = [](Graph& graph, Node& node, std::span<const int> perm) {
    return permute_axis(graph, node, perm, -1);
  };
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace espalier
