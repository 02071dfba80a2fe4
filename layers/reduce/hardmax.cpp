#include <algorithm>

#include "layers/reduce/axis_layers.hpp"
#include "layers/reduce/one_axis.hpp"

namespace espalier {
namespace {

using Run = void (*)(const void* x, void* y, const OneAxis& axis);

template <class T>
void run_hardmax(const void* px, void* py, const OneAxis& axis) {
  using C = Compute<T>;
  const T* x = static_cast<const T*>(px);
  T* y = static_cast<T*>(py);
  std::fill_n(y, axis.outer * axis.extent * axis.inner, T(C(0)));
  if (axis.extent == 0) return;
  for (std::int64_t o = 0; o < axis.outer; ++o)
    for (std::int64_t i = 0; i < axis.inner; ++i) {
      const std::int64_t line = o * axis.extent * axis.inner + i;
      std::int64_t best = 0;
      for (std::int64_t n = 1; n < axis.extent; ++n)
        if (C(x[line + n * axis.inner]) > C(x[line + best * axis.inner])) best = n;
      y[line + best * axis.inner] = T(C(1));
    }
}

class HardmaxKernel final : public Kernel {
 public:
  explicit HardmaxKernel(const NodeView& view) : axis_(axis_of(view, -1, Floats{})) {
    run_ = dispatch(Floats{}, view.inputs[0]->dtype,
                    [](auto tag) -> Run { return &run_hardmax<typename decltype(tag)::type>; });
  }
  void run(const KernelArguments& arguments) override {
    run_(arguments.inputs[0], arguments.outputs[0], axis_);
  }

 private:
  OneAxis axis_;
  Run run_ = nullptr;
};

const Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<HardmaxKernel>(view);
     }},
};

}  // namespace

Layer hardmax_layer() {
  Layer layer;
  layer.op = "Hardmax";
  layer.summary = "1 at the greatest along an axis, else 0";
  layer.layout = LayoutRule::any;
  layer.infer = [](const NodeView& view) {
    static_cast<void>(axis_of(view, -1, Floats{}));
    return std::vector<TensorType>{*view.inputs[0]};
  };
  layer.cost = axis_cost;
  layer.permute = [](Graph& graph, Node& node, std::span<const int> perm) {
    return permute_axis(graph, node, perm, -1);
  };
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace espalier
