#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

#include "graphs/base/error.hpp"
#include "graphs/ir/dtype.hpp"
#include "graphs/ir/tensor.hpp"

/// C++ types for the elements of a tensor, and the step from a DType known at run time to a template
/// argument.
namespace espalier {

/// IEEE half: stored in two bytes, computed with as float.
struct Float16 {
  std::uint16_t bits = 0;
  Float16() = default;
  explicit Float16(float v) : bits(f32_to_f16(v)) {}
  operator float() const { return f16_to_f32(bits); }
};

/// bfloat16: stored in two bytes, computed with as float.
struct BFloat16 {
  std::uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float v) : bits(f32_to_bf16(v)) {}
  operator float() const { return bf16_to_f32(bits); }
};

/// One byte, 0 or 1; any byte but 0 reads as true.
struct Bool {
  std::uint8_t byte = 0;
  Bool() = default;
  explicit Bool(bool v) : byte(v ? 1 : 0) {}
  operator bool() const { return byte != 0; }
};

template <class T>
inline constexpr DType element_dtype = dtype_of<T>();
template <>
inline constexpr DType element_dtype<Float16> = DType::f16;
template <>
inline constexpr DType element_dtype<BFloat16> = DType::bf16;
template <>
inline constexpr DType element_dtype<Bool> = DType::boolean;

/// The type in which one computes with elements stored as T.
template <class T>
struct ComputeType {
  using type = T;
};
template <>
struct ComputeType<Float16> {
  using type = float;
};
template <>
struct ComputeType<BFloat16> {
  using type = float;
};
template <>
struct ComputeType<Bool> {
  using type = bool;
};
template <class T>
using Compute = typename ComputeType<T>::type;

template <class T>
struct Tag {
  using type = T;
};
template <class... Ts>
struct Types {};

template <class... As, class... Bs>
Types<As..., Bs...> join(Types<As...>, Types<Bs...>);

using Floats = Types<float, double, Float16, BFloat16>;
using SignedIntegers = Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t>;
using UnsignedIntegers = Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
using Integers = decltype(join(SignedIntegers{}, UnsignedIntegers{}));
using Numeric = decltype(join(Floats{}, Integers{}));
using Signed = decltype(join(Floats{}, SignedIntegers{}));
using Booleans = Types<Bool>;
using AllTypes = decltype(join(Numeric{}, Booleans{}));

/// The dtypes of a list, for require_dtype.
template <class... Ts>
std::span<const DType> dtypes_of(Types<Ts...>) {
  static constexpr std::array<DType, sizeof...(Ts)> list = {element_dtype<Ts>...};
  return list;
}

/// f(Tag<T>{}) for the T of the list whose dtype is t; all must return the same type. InternalError when the
/// list lacks t: the shape rule should have refused it.
template <class First, class... Rest, class F>
auto dispatch(Types<First, Rest...>, DType t, F&& f) -> decltype(f(Tag<First>{})) {
  if (element_dtype<First> == t) return f(Tag<First>{});
  if constexpr (sizeof...(Rest) > 0)
    return dispatch(Types<Rest...>{}, t, static_cast<F&&>(f));
  else
    throw InternalError("a kernel was asked for a dtype that it does not serve");
}

/// Conversion as ONNX Cast: float to integer truncates and, where C++ leaves it undefined, saturates (NaN is
/// 0); to boolean any value but zero is true; integers wrap.
template <class To, class From>
To convert_element(From value) {
  const auto v = static_cast<Compute<From>>(value);
  using C = Compute<To>;
  using V = Compute<From>;
  if constexpr (std::is_same_v<C, bool>) {
    return To(v != V{});
  } else if constexpr (std::is_floating_point_v<V> && std::is_integral_v<C>) {
    // 2^digits is exact in every floating-point type, unlike the largest integer
    const V bound = static_cast<V>(std::ldexp(1.0, std::numeric_limits<C>::digits));
    if (std::isnan(v)) return To{};
    if (v >= bound) return std::numeric_limits<C>::max();
    if (v < (std::is_signed_v<C> ? -bound : V{})) {
      // a negative value goes to an unsigned type by way of int64, as NumPy does on this hardware
      if (std::is_signed_v<C> || v <= V(-9.2e18)) return std::numeric_limits<C>::min();
      return static_cast<C>(static_cast<std::int64_t>(v));
    }
    return static_cast<To>(v);
  } else {
    return static_cast<To>(static_cast<C>(v));
  }
}

/// InputError "WHAT is float32; accepted are int32, int64" unless `got` is in the list.
void require_dtype(DType got, std::span<const DType> accepted, std::string_view what);

}  // namespace espalier
