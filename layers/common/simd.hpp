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
#define ESPALIER_TARGET_AVX512 \
  __attribute__((target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))
#else
#define ESPALIER_TARGET_AVX2
#define ESPALIER_TARGET_AVX512
#endif

/// In front of a loop whose iterations are independent although pointers may be equal (in place).
#if defined(__clang__)
#define ESPALIER_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define ESPALIER_INDEPENDENT _Pragma("GCC ivdep")
#endif

}  // namespace espalier
