#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>

#include "layers/common/dtype_dispatch.hpp"

/// The activations of ONNX as functors over one element of a floating-point type T (float or double), each
/// with the parameters alpha and beta under ONNX's meaning. Used by the layers, as reference of fused
/// operations, and by recurrent cells.
namespace espalier {

struct ActivationParameters {
  double alpha = 0;
  double beta = 0;
};

/// 1 / (1 + exp(-x)) without overflow.
template <class T>
T logistic(T x) {
  return T(1) / (T(1) + std::exp(-x));
}

/// log(1 + exp(x)) without overflow.
template <class T>
T softplus(T x) {
  return std::max(x, T(0)) + std::log1p(std::exp(-std::abs(x)));
}

/// x Phi(x), or with `approximate` 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))).
template <class T>
T gelu(T x, bool approximate) {
  if (approximate)
    return T(0.5) * x * (T(1) + std::tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
  return T(0.5) * x * (T(1) + std::erf(x * T(0.70710678118654752440)));
}

#define ESPALIER_ACTIVATION(Name, expression)                                    \
  struct Name##Function {                                                        \
    static constexpr std::string_view op = #Name;                                \
    template <class T>                                                           \
    T operator()(T x, [[maybe_unused]] T alpha, [[maybe_unused]] T beta) const { \
      return expression;                                                         \
    }                                                                            \
  }

ESPALIER_ACTIVATION(Relu, x < T(0) ? T(0) : x);
ESPALIER_ACTIVATION(LeakyRelu, x < T(0) ? alpha * x : x);
ESPALIER_ACTIVATION(Clip, x < alpha ? (alpha < beta ? alpha : beta) : (x > beta ? beta : x));
ESPALIER_ACTIVATION(Sigmoid, logistic(x));
ESPALIER_ACTIVATION(HardSigmoid, std::max(T(0), std::min(T(1), alpha* x + beta)));
ESPALIER_ACTIVATION(HardSwish, x* std::max(T(0), std::min(T(1), x / T(6) + T(0.5))));
ESPALIER_ACTIVATION(Tanh, std::tanh(x));
ESPALIER_ACTIVATION(Elu, x < T(0) ? alpha * std::expm1(x) : x);
ESPALIER_ACTIVATION(Selu, x > T(0) ? beta * x : beta * alpha * std::expm1(x));
ESPALIER_ACTIVATION(Celu, x < T(0) ? alpha * std::expm1(x / alpha) : x);
ESPALIER_ACTIVATION(Gelu, gelu(x, alpha == T(1)));
ESPALIER_ACTIVATION(Softplus, softplus(x));
ESPALIER_ACTIVATION(Softsign, x / (T(1) + std::abs(x)));
ESPALIER_ACTIVATION(Mish, x* std::tanh(softplus(x)));
ESPALIER_ACTIVATION(Silu, x* logistic(x));
ESPALIER_ACTIVATION(ThresholdedRelu, x > alpha ? x : T(0));
/// Gelu: alpha = 1 is approximate = "tanh". Shrink: alpha is lambd, beta is bias.
ESPALIER_ACTIVATION(Shrink, x < -alpha ? x + beta : (x > alpha ? x - beta : T(0)));
/// Affine alpha x + beta and scaled tanh alpha tanh(beta x): activations of recurrent cells only.
ESPALIER_ACTIVATION(Affine, alpha* x + beta);
ESPALIER_ACTIVATION(ScaledTanh, alpha* std::tanh(beta* x));

#undef ESPALIER_ACTIVATION

/// y[i] = f(x[i]) for n elements; y may be x.
using ActivationRow = void (*)(const float* x, float* y, std::int64_t n, ActivationParameters p);

/// The plain float row of an activation under its ONNX name, or nullptr.
ActivationRow activation_row(std::string_view op);

}  // namespace espalier
