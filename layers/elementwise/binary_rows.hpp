#pragma once

#include <cstdint>

#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/simd.hpp"

namespace espalier {

/// y[i] = op(a[i * sa], b[i * sb]) for n elements, strides 0 or 1. y may be a or b where the stride is 1.
using BinaryRow = void (*)(const void* a, const void* b, void* y, std::int64_t n, std::int64_t sa,
                           std::int64_t sb);

namespace binary_detail {

template <class Op, class T>
[[gnu::always_inline]] inline void loop(const void* pa, const void* pb, void* py, std::int64_t n,
                                        std::int64_t sa, std::int64_t sb) {
  using C = Compute<T>;
  using R = std::conditional_t<Op::logical, Bool, T>;
  const T* a = static_cast<const T*>(pa);
  const T* b = static_cast<const T*>(pb);
  R* y = static_cast<R*>(py);
  const Op op;
  if (sa == 1 && sb == 1) {
    ESPALIER_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) y[i] = R(op(C(a[i]), C(b[i])));
  } else if (sa == 1) {
    const C right = C(b[0]);
    ESPALIER_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) y[i] = R(op(C(a[i]), right));
  } else if (sb == 1) {
    const C left = C(a[0]);
    ESPALIER_INDEPENDENT
    for (std::int64_t i = 0; i < n; ++i) y[i] = R(op(left, C(b[i])));
  } else {
    const R value = R(op(C(a[0]), C(b[0])));
    for (std::int64_t i = 0; i < n; ++i) y[i] = value;
  }
}

template <class Op, class T>
void baseline(const void* a, const void* b, void* y, std::int64_t n, std::int64_t sa, std::int64_t sb) {
  loop<Op, T>(a, b, y, n, sa, sb);
}

template <class Op, class T>
ESPALIER_TARGET_AVX2 void avx2(const void* a, const void* b, void* y, std::int64_t n, std::int64_t sa,
                               std::int64_t sb) {
  loop<Op, T>(a, b, y, n, sa, sb);
}

template <class Op, class T>
ESPALIER_TARGET_AVX512 void avx512(const void* a, const void* b, void* y, std::int64_t n, std::int64_t sa,
                                   std::int64_t sb) {
  loop<Op, T>(a, b, y, n, sa, sb);
}

}  // namespace binary_detail

/// The plain row of Op for a dtype of the list.
template <class Op, class List>
BinaryRow reference_binary_row(DType t) {
  return dispatch(List{}, t, [](auto tag) -> BinaryRow {
    return &binary_detail::baseline<Op, typename decltype(tag)::type>;
  });
}

/// The float32 row of Op for the widest instruction set here.
template <class Op>
BinaryRow vectorised_binary_row() {
  switch (isa()) {
    case Isa::avx512:
      return &binary_detail::avx512<Op, float>;
    case Isa::avx2:
      return &binary_detail::avx2<Op, float>;
    case Isa::baseline:
      break;
  }
  return &binary_detail::baseline<Op, float>;
}

}  // namespace espalier
