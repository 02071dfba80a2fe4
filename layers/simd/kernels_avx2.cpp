#include "layers/simd/kernels.hpp"
#include "layers/simd/unroll.hpp"

#if defined(__x86_64__)
#include <algorithm>
#include <immintrin.h>

// GCC 12 takes its own headers' _mm512_undefined_ps() for a use of an uninitialised value
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#define ESPALIER_TARGET __attribute__((target("avx2,fma")))
#define ESPALIER_INLINE ESPALIER_TARGET static inline __attribute__((always_inline))

namespace espalier::simd {
namespace {
namespace avx2 {
#include "layers/simd/vector_avx2.inl"
// keep the order: the loops use the vectors
#include "layers/simd/kernels.inl"
}  // namespace avx2
}  // namespace

const Kernels kAvx2{
    "avx2", avx2::kWidth, avx2::gemm, avx2::depthwise_row, avx2::winograd_input, avx2::winograd_output};

}  // namespace espalier::simd
#else
namespace espalier::simd {
const Kernels kAvx2{"avx2", 0, nullptr, nullptr, nullptr, nullptr};
}  // namespace espalier::simd
#endif
