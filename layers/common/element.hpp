#pragma once

#include <type_traits>

#include "graphs/base/error.hpp"
#include "graphs/ir/tensor.hpp"

namespace espalier {

/// Storage of the two 16-bit float types, for reference loops over any dtype.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

/// A float element as double; an integer one as itself, so that 64-bit values stay exact.
template <class T>
auto load_element(T v) {
  if constexpr (std::is_same_v<T, Half>)
    return static_cast<double>(f16_to_f32(v.bits));
  else if constexpr (std::is_same_v<T, Brain>)
    return static_cast<double>(bf16_to_f32(v.bits));
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<double>(v);
  else
    return v;
}

/// Rounds a double to T.
template <class T>
T store_element(double v) {
  if constexpr (std::is_same_v<T, Half>)
    return {f32_to_f16(static_cast<float>(v))};
  else if constexpr (std::is_same_v<T, Brain>)
    return {f32_to_bf16(static_cast<float>(v))};
  else
    return static_cast<T>(v);
}

/// Calls f.operator()<T>() with the storage type of a float dtype.
template <class F>
auto with_float_type(DType t, F&& f) {
  switch (t) {
    case DType::f32:
      return f.template operator()<float>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::f16:
      return f.template operator()<Half>();
    case DType::bf16:
      return f.template operator()<Brain>();
    default:
      throw InternalError("a float type is needed");
  }
}

}  // namespace espalier
