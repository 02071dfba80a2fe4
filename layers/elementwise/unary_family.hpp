#pragma once

#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "graphs/ir/layer.hpp"
#include "layers/common/activations.hpp"
#include "layers/common/broadcast.hpp"
#include "layers/common/permute.hpp"
#include "layers/common/simd.hpp"

namespace espalier {

/// y[i] = f(x[i]) for n elements; y may be x when both have one dtype.
using UnaryRow = void (*)(const void* x, void* y, std::int64_t n, ActivationParameters p);

/// One operator of one input: what it accepts, its parameters and its rows. Functors take (x, alpha, beta).
struct UnaryOperator {
  std::string_view op;
  std::string_view summary;
  std::span<const DType> dtypes;
  bool logical = false;  ///< the result is boolean
  double flops = 1;      ///< of one element
  ActivationParameters (*parameters)(const Attributes&) = nullptr;
  UnaryRow (*reference)(DType) = nullptr;
  UnaryRow (*vectorised)() = nullptr;  ///< float32; nullptr where a compiler cannot
};

namespace unary_detail {

template <class F, bool logical, class T>
[[gnu::always_inline]] inline void loop(const void* px, void* py, std::int64_t n, ActivationParameters p) {
  using C = Compute<T>;
  using R = std::conditional_t<logical, Bool, T>;
  const T* x = static_cast<const T*>(px);
  R* y = static_cast<R*>(py);
  // integers compute in their own type, unless the parameters are fractions
  using P = std::conditional_t < std::is_integral_v<C>&& requires {
    typename F::ComputesIntegersAsDouble;
  }
  , double, C > ;
  const P alpha = static_cast<P>(p.alpha);
  const P beta = static_cast<P>(p.beta);
  ESPALIER_INDEPENDENT
  for (std::int64_t i = 0; i < n; ++i) y[i] = R(F{}(P(C(x[i])), alpha, beta));
}

template <class F, bool logical, class T>
void baseline(const void* x, void* y, std::int64_t n, ActivationParameters p) {
  loop<F, logical, T>(x, y, n, p);
}
template <class F, bool logical, class T>
ESPALIER_TARGET_AVX2 void avx2(const void* x, void* y, std::int64_t n, ActivationParameters p) {
  loop<F, logical, T>(x, y, n, p);
}
template <class F, bool logical, class T>
ESPALIER_TARGET_AVX512 void avx512(const void* x, void* y, std::int64_t n, ActivationParameters p) {
  loop<F, logical, T>(x, y, n, p);
}

template <class F, bool logical, class List>
UnaryRow reference_row(DType t) {
  return dispatch(List{}, t,
                  [](auto tag) -> UnaryRow { return &baseline<F, logical, typename decltype(tag)::type>; });
}

template <class F, bool logical>
UnaryRow vectorised_row() {
  switch (isa()) {
    case Isa::avx512:
      return &avx512<F, logical, float>;
    case Isa::avx2:
      return &avx2<F, logical, float>;
    case Isa::baseline:
      break;
  }
  return &baseline<F, logical, float>;
}

}  // namespace unary_detail

/// An entry without a vector row.
template <class F, class List, bool logical = false>
UnaryOperator plain_unary(std::string_view op, std::string_view summary, double flops,
                          ActivationParameters (*parameters)(const Attributes&) = nullptr) {
  return {op,
          summary,
          dtypes_of(List{}),
          logical,
          flops,
          parameters,
          &unary_detail::reference_row<F, logical, List>,
          nullptr};
}

/// An entry whose float32 row a compiler vectorises.
template <class F, class List, bool logical = false>
UnaryOperator fast_unary(std::string_view op, std::string_view summary, double flops,
                         ActivationParameters (*parameters)(const Attributes&) = nullptr) {
  UnaryOperator entry = plain_unary<F, List, logical>(op, summary, flops, parameters);
  entry.vectorised = &unary_detail::vectorised_row<F, logical>;
  return entry;
}

/// The kernel of a row over the whole tensor.
std::unique_ptr<Kernel> make_unary_kernel(const NodeView& view, UnaryRow row,
                                          ActivationParameters parameters);

/// float32 through oneDNN's eltwise primitive; `onednn_unary_refuses` is empty where it serves the operator.
std::string onednn_unary_refuses(const NodeView& view, ActivationParameters parameters);
std::unique_ptr<Kernel> make_onednn_unary_kernel(const NodeView& view, ActivationParameters parameters);

/// The layer of an entry. `find` returns the entry of a view's operator: entries live in one table a family,
/// and the functions of a Layer have no other argument that tells them apart.
template <const UnaryOperator& (*find)(const NodeView&)>
struct UnaryFamily {
  static ActivationParameters parameters(const NodeView& view) {
    const UnaryOperator& entry = find(view);
    return entry.parameters != nullptr ? entry.parameters(view.attributes()) : ActivationParameters{};
  }
  static std::vector<TensorType> infer(const NodeView& view) {
    if (!view.has_input(0)) throw InputError("input 0 is missing");
    const UnaryOperator& entry = find(view);
    require_dtype(view.inputs[0]->dtype, entry.dtypes, "input 0");
    static_cast<void>(parameters(view));  // a wrong attribute is told now
    return {{entry.logical ? DType::boolean : view.inputs[0]->dtype, view.shape(0)}};
  }
  static LayerCost cost(const NodeView& view) { return elementwise_cost(view, find(view).flops); }
  static std::string refuses_vectorised(const NodeView& view, const KernelOptions&) {
    if (view.inputs[0]->dtype != DType::f32)
      return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
    return find(view).vectorised == nullptr ? fmt::format("{} has no vector form", view.op()) : std::string();
  }
  static std::string refuses_onednn(const NodeView& view, const KernelOptions&) {
    return onednn_unary_refuses(view, parameters(view));
  }
  static std::string refuses_nothing(const NodeView&, const KernelOptions&) { return {}; }
  static std::unique_ptr<Kernel> prepare_vectorised(const NodeView& view, PrepareContext&) {
    return make_unary_kernel(view, find(view).vectorised(), parameters(view));
  }
  static std::unique_ptr<Kernel> prepare_onednn(const NodeView& view, PrepareContext&) {
    return make_onednn_unary_kernel(view, parameters(view));
  }
  static std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
    return make_unary_kernel(view, find(view).reference(view.inputs[0]->dtype), parameters(view));
  }

  static Layer layer(const UnaryOperator& entry) {
    static const Implementation implementations[] = {
        {"vectorised", refuses_vectorised, prepare_vectorised},
        {"onednn", refuses_onednn, prepare_onednn},
        {"reference", refuses_nothing, prepare_reference},
    };
    Layer layer;
    layer.op = entry.op;
    layer.summary = entry.summary;
    layer.layout = LayoutRule::any;
    layer.infer = infer;
    layer.cost = cost;
    layer.permute = permute_elementwise;
    layer.implementations = implementations;
    return layer;
  }
};

}  // namespace espalier
