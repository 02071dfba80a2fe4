#pragma once

#include <compare>
#include <cstdint>

/// Units as types, so that a time is never taken for a size. Each is a thin wrapper over one number.
namespace espalier {

template <class Tag, class Rep>
struct Quantity {
  Rep value{};
  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep v) : value(v) {}
  friend constexpr auto operator<=>(const Quantity&, const Quantity&) = default;
  constexpr Quantity& operator+=(Quantity o) {
    value += o.value;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    value -= o.value;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.value + b.value); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.value - b.value); }
  friend constexpr Quantity operator*(Quantity a, Rep f) { return Quantity(a.value * f); }
  friend constexpr Quantity operator*(Rep f, Quantity a) { return Quantity(f * a.value); }
  friend constexpr double operator/(Quantity a, Quantity b) { return double(a.value) / double(b.value); }
  friend constexpr Quantity operator/(Quantity a, Rep f) { return Quantity(a.value / f); }
};

using Seconds = Quantity<struct SecondsTag, double>;
using Flops = Quantity<struct FlopsTag, double>;  ///< floating-point operations, a multiply-add is two
using Bytes = Quantity<struct BytesTag, std::int64_t>;

}  // namespace espalier
