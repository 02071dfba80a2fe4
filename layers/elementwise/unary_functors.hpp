#pragma once

#include <cmath>
#include <type_traits>

#include "layers/elementwise/binary_functors.hpp"

/// Unary arithmetic on one element x of a type in which one computes; two parameters, used by IsInf only.
namespace espalier::functors {

#define ESPALIER_UNARY(Name, expression) \
  struct Name {                          \
    template <class C>                   \
    auto operator()(C x, C, C) const {   \
      return expression;                 \
    }                                    \
  }

/// The lowest signed integer stays itself.
struct Abs {
  template <class C>
  C operator()(C x, C, C) const {
    if constexpr (std::is_floating_point_v<C>)
      return std::abs(x);
    else if constexpr (std::is_signed_v<C>)
      return x < 0 ? Sub{}(C(0), x) : x;
    else
      return x;
  }
};

struct Neg {
  template <class C>
  C operator()(C x, C, C) const {
    if constexpr (std::is_floating_point_v<C>)
      return -x;
    else
      return Sub{}(C(0), x);
  }
};

/// NaN stays NaN.
struct Sign {
  template <class C>
  C operator()(C x, C, C) const {
    const C sign = static_cast<C>(static_cast<int>(x > C(0)) - static_cast<int>(x < C(0)));
    return x != x ? x : sign;
  }
};

/// attributes detect_positive and detect_negative as alpha and beta
struct IsInf {
  template <class C>
  bool operator()(C x, C positive, C negative) const {
    const C infinity = std::numeric_limits<C>::infinity();
    return (positive != C(0) && x == infinity) || (negative != C(0) && x == -infinity);
  }
};

ESPALIER_UNARY(Exp, std::exp(x));
ESPALIER_UNARY(Log, std::log(x));
ESPALIER_UNARY(Sqrt, std::sqrt(x));
ESPALIER_UNARY(Reciprocal, C(1) / x);
ESPALIER_UNARY(Floor, std::floor(x));
ESPALIER_UNARY(Ceil, std::ceil(x));
ESPALIER_UNARY(Round, std::nearbyint(x));  // halves to even: the mode of the processor
ESPALIER_UNARY(Sin, std::sin(x));
ESPALIER_UNARY(Cos, std::cos(x));
ESPALIER_UNARY(Tan, std::tan(x));
ESPALIER_UNARY(Asin, std::asin(x));
ESPALIER_UNARY(Acos, std::acos(x));
ESPALIER_UNARY(Atan, std::atan(x));
ESPALIER_UNARY(Sinh, std::sinh(x));
ESPALIER_UNARY(Cosh, std::cosh(x));
ESPALIER_UNARY(Asinh, std::asinh(x));
ESPALIER_UNARY(Acosh, std::acosh(x));
ESPALIER_UNARY(Atanh, std::atanh(x));
ESPALIER_UNARY(Erf, static_cast<C>(std::erf(x)));
ESPALIER_UNARY(IsNaN, x != x);
ESPALIER_UNARY(Not, !x);
ESPALIER_UNARY(BitwiseNot, static_cast<C>(~x));

#undef ESPALIER_UNARY

}  // namespace espalier::functors
