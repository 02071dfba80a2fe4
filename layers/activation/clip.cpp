#include "layers/activation/clip.hpp"

#include <fmt/format.h>
#include <limits>

#include "graphs/base/error.hpp"
#include "layers/common/broadcast.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/permute.hpp"
#include "layers/common/simd.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer(const NodeView& view) {
  if (!view.has_input(0)) throw InputError("input 0 is missing");
  require_dtype(view.inputs[0]->dtype, dtypes_of(Numeric{}), "input 0");
  for (std::size_t i = 1; i <= 2; ++i) {
    if (!view.has_input(i)) continue;
    const char* what = i == 1 ? "min" : "max";
    if (view.inputs[i]->dtype != view.inputs[0]->dtype)
      throw InputError(fmt::format("{} is {}, the input {}: they must have one type", what,
                                   view.inputs[i]->to_string(), view.inputs[0]->to_string()));
    if (view.shape(i).elements() != 1)
      throw InputError(fmt::format("{} is {}; one element is needed", what, view.inputs[i]->to_string()));
  }
  return {*view.inputs[0]};
}

/// lower and upper may be nullptr. NaN stays; where lower > upper the result is upper, as NumPy has it.
using Row = void (*)(const void* x, void* y, std::int64_t n, const void* lower, const void* upper);

template <class T>
[[gnu::always_inline]] inline void loop(const void* px, void* py, std::int64_t n, const void* lower,
                                        const void* upper) {
  using C = Compute<T>;
  using Limits = std::numeric_limits<C>;
  const C least = std::is_floating_point_v<C> ? -Limits::infinity() : Limits::lowest();
  const C most = std::is_floating_point_v<C> ? Limits::infinity() : Limits::max();
  const C a = lower != nullptr ? C(*static_cast<const T*>(lower)) : least;
  const C b = upper != nullptr ? C(*static_cast<const T*>(upper)) : most;
  const T* x = static_cast<const T*>(px);
  T* y = static_cast<T*>(py);
  ESPALIER_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) {
    const C v = C(x[i]);
    const C raised = v < a ? a : v;
    y[i] = T(raised > b ? b : raised);
  }
}

template <class T>
void baseline(const void* x, void* y, std::int64_t n, const void* lower, const void* upper) {
  loop<T>(x, y, n, lower, upper);
}
ESPALIER_TARGET_AVX2 void avx2(const void* x, void* y, std::int64_t n, const void* lower, const void* upper) {
  loop<float>(x, y, n, lower, upper);
}
ESPALIER_TARGET_AVX512 void avx512(const void* x, void* y, std::int64_t n, const void* lower,
                                   const void* upper) {
  loop<float>(x, y, n, lower, upper);
}

Row vectorised_row() {
  switch (isa()) {
    case Isa::avx512:
      return &avx512;
    case Isa::avx2:
      return &avx2;
    case Isa::baseline:
      break;
  }
  return &baseline<float>;
}

Row reference_row(DType t) {
  return dispatch(Numeric{}, t, [](auto tag) -> Row { return &baseline<typename decltype(tag)::type>; });
}

class ClipKernel final : public Kernel {
 public:
  ClipKernel(const NodeView& view, Row row) : row_(row), elements_(view.outputs[0]->shape.elements()) {}
  void run(const KernelArguments& arguments) override {
    const auto bound = [&](std::size_t i) {
      return i < arguments.inputs.size() ? arguments.inputs[i] : nullptr;
    };
    row_(arguments.inputs[0], arguments.outputs[0], elements_, bound(1), bound(2));
  }
  bool in_place() const override { return true; }

 private:
  Row row_;
  std::int64_t elements_;
};

const Implementation kImplementations[] = {
    {"vectorised",
     [](const NodeView& view, const KernelOptions&) {
       return view.inputs[0]->dtype == DType::f32
                  ? std::string()
                  : fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
     },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<ClipKernel>(view, vectorised_row());
     }},
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<ClipKernel>(view, reference_row(view.inputs[0]->dtype));
     }},
};

}  // namespace

Layer clip_layer() {
  Layer layer;
  layer.op = "Clip";
  layer.summary = "x cut to min..max";
  layer.min_inputs = 1;
  layer.max_inputs = 3;
  layer.layout = LayoutRule::any;
  layer.infer = infer;
  layer.cost = [](const NodeView& view) { return elementwise_cost(view, 2); };
  layer.permute = permute_elementwise;
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace espalier
