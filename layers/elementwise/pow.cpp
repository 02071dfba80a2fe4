#include "layers/elementwise/pow.hpp"

#include <array>
#include <cmath>
#include <fmt/format.h>
#include <optional>

#include "graphs/base/error.hpp"
#include "layers/common/broadcast.hpp"
#include "layers/common/permute.hpp"
#include "layers/elementwise/binary_functors.hpp"
#include "layers/elementwise/binary_rows.hpp"

namespace espalier {
namespace {

using Bases = Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t>;

std::vector<TensorType> infer(const NodeView& view) {
  for (std::size_t i = 0; i < 2; ++i)
    if (!view.has_input(i)) throw InputError(fmt::format("input {} is missing", i));
  require_dtype(view.inputs[0]->dtype, dtypes_of(Bases{}), "the base");
  require_dtype(view.inputs[1]->dtype, dtypes_of(Numeric{}), "the exponent");
  return {{view.inputs[0]->dtype, broadcast(view.shape(0), view.shape(1))}};
}

/// Integer power by squaring, wrapping; a negative exponent gives the truncated quotient 1 / a^-b, 0 for a =
/// 0.
template <class C>
C integer_power(C base, std::int64_t exponent) {
  if (exponent < 0) {
    if (base == 1) return 1;
    if (base == C(-1)) return exponent % 2 == 0 ? C(1) : C(-1);
    return 0;
  }
  const functors::Mul multiply;
  C result = 1;
  for (; exponent > 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = multiply(result, base);
    base = multiply(base, base);
  }
  return result;
}

template <class T, class E>
T power(T base, E exponent) {
  using C = Compute<T>;
  if constexpr (std::is_integral_v<C> && std::is_integral_v<Compute<E>>) {
    return integer_power<C>(base, static_cast<std::int64_t>(exponent));
  } else if constexpr (std::is_integral_v<C>) {
    return convert_element<T>(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  } else {
    return T(std::pow(C(base), static_cast<C>(static_cast<Compute<E>>(exponent))));
  }
}

template <class T, class E>
void row(const void* pa, const void* pb, void* py, std::int64_t n, std::int64_t sa, std::int64_t sb) {
  const T* a = static_cast<const T*>(pa);
  const E* b = static_cast<const E*>(pb);
  T* y = static_cast<T*>(py);
  for (std::int64_t i = 0; i < n; ++i) y[i] = power<T, E>(a[i * sa], b[i * sb]);
}

BinaryRow reference_row(DType base, DType exponent) {
  return dispatch(Bases{}, base, [&](auto a) {
    return dispatch(Numeric{}, exponent, [](auto b) -> BinaryRow {
      return &row<typename decltype(decltype(a){})::type, typename decltype(b)::type>;
    });
  });
}

class PowKernel final : public Kernel {
 public:
  explicit PowKernel(const NodeView& view)
      : row_(reference_row(view.inputs[0]->dtype, view.inputs[1]->dtype)),
        base_size_(static_cast<std::int64_t>(size_of(view.inputs[0]->dtype))),
        exponent_size_(static_cast<std::int64_t>(size_of(view.inputs[1]->dtype))),
        in_place_(*view.inputs[0] == *view.outputs[0]) {
    const std::array<Shape, 2> shapes = {view.shape(0), view.shape(1)};
    plan_ = plan_broadcast(view.outputs[0]->shape, shapes);
  }
  void run(const KernelArguments& arguments) override {
    const auto* a = static_cast<const char*>(arguments.inputs[0]);
    const auto* b = static_cast<const char*>(arguments.inputs[1]);
    auto* y = static_cast<char*>(arguments.outputs[0]);
    const BroadcastPlan::Axis& last = plan_.row();
    for_each_row(plan_, [&](std::int64_t out, const BroadcastPlan::Offsets& in) {
      row_(a + in[0] * base_size_, b + in[1] * exponent_size_, y + out * base_size_, last.extent,
           last.strides[0], last.strides[1]);
    });
  }
  bool in_place() const override { return in_place_; }

 private:
  BinaryRow row_;
  std::int64_t base_size_;
  std::int64_t exponent_size_;
  bool in_place_;
  BroadcastPlan plan_;
};

/// x^2 and the like as products: (x, ignored) -> x^P.
template <int P>
struct FixedPower : functors::Arithmetic {
  template <class C>
  C operator()(C x, C) const {
    if constexpr (P == -1)
      return C(1) / x;
    else if constexpr (P == 1)
      return x;
    else if constexpr (P == 2)
      return x * x;
    else if constexpr (P == 3)
      return x * x * x;
    else
      return (x * x) * (x * x);
  }
};

BinaryRow fixed_row(double exponent) {
  if (exponent == -1) return vectorised_binary_row<FixedPower<-1>>();
  if (exponent == 1) return vectorised_binary_row<FixedPower<1>>();
  if (exponent == 2) return vectorised_binary_row<FixedPower<2>>();
  if (exponent == 3) return vectorised_binary_row<FixedPower<3>>();
  if (exponent == 4) return vectorised_binary_row<FixedPower<4>>();
  return nullptr;
}

class FixedPowerKernel final : public Kernel {
 public:
  FixedPowerKernel(const NodeView& view, BinaryRow row)
      : row_(row), elements_(view.outputs[0]->shape.elements()) {}
  void run(const KernelArguments& arguments) override {
    const void* x = arguments.inputs[0];
    if (elements_ > 0) row_(x, x, arguments.outputs[0], elements_, 1, 1);
  }
  bool in_place() const override { return true; }

 private:
  BinaryRow row_;
  std::int64_t elements_;
};

/// Without copying the whole tensor: it has one element.
double only_value(const Tensor& t) {
  return t.to_double()[0];
}

std::string refuses_fixed(const NodeView& view, const KernelOptions&) {
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  const Tensor* exponent = view.constants[1];
  if (exponent == nullptr) return "the exponent is known at run time only";
  if (exponent->elements() != 1) return "the exponent is not one number";
  if (view.shape(0).elements() != view.outputs[0]->shape.elements()) return "the exponent widens the base";
  if (fixed_row(only_value(*exponent)) == nullptr)
    return fmt::format("the exponent is {}; served are -1, 1, 2, 3, 4", only_value(*exponent));
  return {};
}

const Implementation kImplementations[] = {
    {"vectorised", refuses_fixed,
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<FixedPowerKernel>(view, fixed_row(only_value(*view.constants[1])));
     }},
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<PowKernel>(view);
     }},
};

}  // namespace

Layer pow_layer() {
  Layer layer;
  layer.op = "Pow";
  layer.summary = "a to the b";
  layer.min_inputs = layer.max_inputs = 2;
  layer.layout = LayoutRule::any;
  layer.infer = infer;
  layer.cost = [](const NodeView& view) { return elementwise_cost(view, 20); };
  layer.permute = permute_elementwise;
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace espalier
