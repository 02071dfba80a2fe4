// Sixteen floats on AVX-512. Included inside a namespace of its own; see kernels.inl.

using Vec = __m512;
constexpr int kWidth = 16;
constexpr int kRows2 = 14;  ///< rows of a tile of two vectors: 28 accumulators of 32 registers
constexpr int kRows3 = 7;   ///< of three
constexpr int kDepthwisePoints = 5;  ///< outputs of four vectors that a depthwise loop keeps

ESPALIER_INLINE Vec load(const float* p) { return _mm512_loadu_ps(p); }
ESPALIER_INLINE void store(float* p, Vec v) { _mm512_storeu_ps(p, v); }
ESPALIER_INLINE Vec broadcast(float v) { return _mm512_set1_ps(v); }
ESPALIER_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }
ESPALIER_INLINE Vec max(Vec a, Vec b) { return _mm512_max_ps(a, b); }
ESPALIER_INLINE Vec min(Vec a, Vec b) { return _mm512_min_ps(a, b); }
ESPALIER_INLINE __mmask16 lanes(int n) { return static_cast<__mmask16>((1U << n) - 1U); }
ESPALIER_INLINE Vec load_first(const float* p, int n) { return _mm512_maskz_loadu_ps(lanes(n), p); }
ESPALIER_INLINE void store_first(float* p, Vec v, int n) { _mm512_mask_storeu_ps(p, lanes(n), v); }

/// 1 / v to about 23 bits: an estimate and one Newton step.
ESPALIER_INLINE Vec reciprocal(Vec v) {
  const Vec r = _mm512_rcp14_ps(v);
  return _mm512_mul_ps(r, _mm512_fnmadd_ps(v, r, _mm512_set1_ps(2.0F)));
}
/// t - floor(t), and v * 2^floor(t).
ESPALIER_INLINE Vec fraction(Vec t) { return _mm512_reduce_ps(t, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC); }
ESPALIER_INLINE Vec scale_by_floor(Vec v, Vec t) { return _mm512_scalef_ps(v, t); }
