#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "layers/common/dtype_dispatch.hpp"
#include "layers/elementwise/binary_functors.hpp"

/// What the reductions gather: `start`, `step` for one more element, `merge` of two partial results and
/// `finish` with the number of elements. Floats gather in double, so that the order of the sum does not show
/// in a float32 result; integers in 64 bits that wrap.
namespace espalier::reducers {

template <class C>
using Accumulator = std::conditional_t<std::is_floating_point_v<C>, double,
                                       std::conditional_t<std::is_signed_v<C>, std::int64_t, std::uint64_t>>;

struct Sum {
  template <class C>
  using State = Accumulator<C>;
  template <class S>
  static S start() {
    return S{};
  }
  template <class S, class C>
  static S step(S s, C x) {
    return functors::Add{}(s, static_cast<S>(x));
  }
  template <class S>
  static S merge(S a, S b) {
    return functors::Add{}(a, b);
  }
  template <class S>
  static S finish(S s, std::int64_t) {
    return s;
  }
};

/// 0 elements: NaN of floats, 0 of integers.
struct Mean : Sum {
  template <class S>
  static S finish(S s, std::int64_t n) {
    return functors::Div{}(s, static_cast<S>(n));
  }
};

struct SumSquare : Sum {
  template <class S, class C>
  static S step(S s, C x) {
    const S v = static_cast<S>(x);
    return functors::Add{}(s, functors::Mul{}(v, v));
  }
};

struct L1 : Sum {
  template <class S, class C>
  static S step(S s, C x) {
    const S v = static_cast<S>(x);
    return functors::Add{}(s, v < S{} ? functors::Sub{}(S{}, v) : v);
  }
};

struct Prod {
  template <class C>
  using State = Accumulator<C>;
  template <class S>
  static S start() {
    return S{1};
  }
  template <class S, class C>
  static S step(S s, C x) {
    return functors::Mul{}(s, static_cast<S>(x));
  }
  template <class S>
  static S merge(S a, S b) {
    return functors::Mul{}(a, b);
  }
  template <class S>
  static S finish(S s, std::int64_t) {
    return s;
  }
};

/// 0 elements: the lowest value of the type. NaN wins.
struct Max {
  template <class C>
  using State = C;
  template <class S>
  static S start() {
    return std::is_floating_point_v<S> ? -std::numeric_limits<S>::infinity()
                                       : std::numeric_limits<S>::lowest();
  }
  template <class S>
  static S step(S s, S x) {
    return functors::Max{}(s, x);
  }
  template <class S>
  static S merge(S a, S b) {
    return functors::Max{}(a, b);
  }
  template <class S>
  static S finish(S s, std::int64_t) {
    return s;
  }
};

struct Min {
  template <class C>
  using State = C;
  template <class S>
  static S start() {
    return std::is_floating_point_v<S> ? std::numeric_limits<S>::infinity() : std::numeric_limits<S>::max();
  }
  template <class S>
  static S step(S s, S x) {
    return functors::Min{}(s, x);
  }
  template <class S>
  static S merge(S a, S b) {
    return functors::Min{}(a, b);
  }
  template <class S>
  static S finish(S s, std::int64_t) {
    return s;
  }
};

/// Those that end with a function gather in double whatever the dtype.
struct L2 : SumSquare {
  template <class C>
  using State = double;
  static double finish(double s, std::int64_t) { return std::sqrt(s); }
};

struct LogSum : Sum {
  template <class C>
  using State = double;
  static double finish(double s, std::int64_t) { return std::log(s); }
};

/// log sum e^x without overflow: the sum is kept relative to the greatest element so far.
struct LogSumExp {
  struct Scaled {
    double greatest = -std::numeric_limits<double>::infinity();
    double sum = 0;  ///< of e^(x - greatest)
  };
  template <class C>
  using State = Scaled;
  template <class S>
  static S start() {
    return {};
  }
  template <class C>
  static Scaled step(Scaled s, C value) {
    return merge(s, Scaled{static_cast<double>(value), 1});
  }
  static Scaled merge(Scaled a, Scaled b) {
    if (a.greatest < b.greatest) std::swap(a, b);
    // equal infinities must not be subtracted; NaN goes on by way of `greatest`
    if (std::isnan(b.greatest)) return b;
    if (a.greatest == b.greatest) return {a.greatest, a.sum + b.sum};
    return {a.greatest, a.sum + b.sum * std::exp(b.greatest - a.greatest)};
  }
  static double finish(Scaled s, std::int64_t) {
    return std::isinf(s.greatest) ? s.greatest : s.greatest + std::log(s.sum);
  }
};

}  // namespace espalier::reducers
