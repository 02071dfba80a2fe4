#pragma once

/// Loops compiled for several instruction sets in one binary: a template marked ESPALIER_TARGET_AVX2 or
/// ESPALIER_TARGET_AVX512 inlines plain functors and is chosen at run time by isa().
namespace espalier {

enum class Isa { baseline, avx2, avx512 };

/// The widest set that this processor and this build serve.
inline Isa isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512bw") != 0)
    return Isa::avx512;
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return Isa::avx2;
#endif
  return Isa::baseline;
}

#if defined(__x86_64__)
#define ESPALIER_TARGET_AVX2 __attribute__((target("avx2,fma")))
#if defined(__clang__)  // knows no preferred width
#define ESPALIER_TARGET_AVX512 __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw")))
#else
#define ESPALIER_TARGET_AVX512 \
  __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))
#endif
#else
#define ESPALIER_TARGET_AVX2
#define ESPALIER_TARGET_AVX512
#endif

/// In front of a loop whose iterations are independent although pointers may be equal (in place). Clang
/// checks at run time instead: its pragma is an error wherever the loop is not vectorised (-O1, sanitizers).
#if defined(__clang__)
#define ESPALIER_INDEPENDENT
#else
#define ESPALIER_INDEPENDENT _Pragma("GCC ivdep")
#endif

/// A body that must be compiled into its caller, whatever instructions that one may use.
#define ESPALIER_INLINE inline __attribute__((always_inline))

namespace simd_detail {
template <class Body, class... Args>
ESPALIER_TARGET_AVX512 void on_avx512(Args... args) {
  Body::run(args...);
}
template <class Body, class... Args>
ESPALIER_TARGET_AVX2 void on_avx2(Args... args) {
  Body::run(args...);
}
}  // namespace simd_detail

/// Body::run(args...), a static ESPALIER_INLINE function, compiled for the widest set that there is.
template <class Body, class... Args>
void simd_call(Args... args) {
  switch (isa()) {
    case Isa::avx512:
      return simd_detail::on_avx512<Body, Args...>(args...);
    case Isa::avx2:
      return simd_detail::on_avx2<Body, Args...>(args...);
    case Isa::baseline:
      break;
  }
  Body::run(args...);
}

}  // namespace espalier
