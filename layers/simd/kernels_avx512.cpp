#include "layers/simd/kernels.hpp"
#include "layers/simd/unroll.hpp"

#if defined(__x86_64__)
#include <algorithm>
#include <immintrin.h>

// GCC 12 takes its own headers' _mm512_undefined_ps() for a use of an uninitialised value
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define ESPALIER_TARGET __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma")))
#define ESPALIER_INLINE ESPALIER_TARGET static inline __attribute__((always_inline))

namespace espalier::simd {
namespace {
namespace avx512 {
#include "layers/simd/vector_avx512.inl"
// keep the order: the loops use the vectors
#include "layers/simd/kernels.inl"
}  // namespace avx512
}  // namespace

const Kernels kAvx512{"avx512",
                      avx512::kWidth,
                      avx512::gemm,
                      avx512::depthwise_row,
                      avx512::winograd_input,
                      avx512::winograd_output};

}  // namespace espalier::simd
#else
namespace espalier::simd {
const Kernels kAvx512{"avx512", 0, nullptr, nullptr, nullptr, nullptr};
}  // namespace espalier::simd
#endif
