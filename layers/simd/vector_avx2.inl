// Eight floats on AVX2 with FMA. Included inside a namespace of its own; see kernels.inl.

using Vec = __m256;
constexpr int kWidth = 8;
constexpr int kRows2 = 6;  ///< rows of a tile of two vectors: 12 accumulators of 16 registers
constexpr int kRows3 = 3;  ///< of three
constexpr int kDepthwisePoints = 2;  ///< outputs of four vectors that a depthwise loop keeps

ESPALIER_INLINE Vec load(const float* p) { return _mm256_loadu_ps(p); }
ESPALIER_INLINE void store(float* p, Vec v) { _mm256_storeu_ps(p, v); }
ESPALIER_INLINE Vec broadcast(float v) { return _mm256_set1_ps(v); }
ESPALIER_INLINE Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }
ESPALIER_INLINE Vec max(Vec a, Vec b) { return _mm256_max_ps(a, b); }
ESPALIER_INLINE Vec min(Vec a, Vec b) { return _mm256_min_ps(a, b); }
ESPALIER_INLINE __m256i lanes(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
ESPALIER_INLINE Vec load_first(const float* p, int n) { return _mm256_maskload_ps(p, lanes(n)); }
ESPALIER_INLINE void store_first(float* p, Vec v, int n) { _mm256_maskstore_ps(p, lanes(n), v); }

/// 1 / v to about 23 bits: an estimate of 12 bits and one Newton step.
ESPALIER_INLINE Vec reciprocal(Vec v) {
  const Vec r = _mm256_rcp_ps(v);
  return _mm256_mul_ps(r, _mm256_fnmadd_ps(v, r, _mm256_set1_ps(2.0F)));
}
/// t - floor(t), and v * 2^floor(t) for t in [-126, 127].
ESPALIER_INLINE Vec fraction(Vec t) { return _mm256_sub_ps(t, _mm256_floor_ps(t)); }
ESPALIER_INLINE Vec scale_by_floor(Vec v, Vec t) {
  const __m256i bits =
      _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(_mm256_floor_ps(t)), _mm256_set1_epi32(127)), 23);
  return _mm256_mul_ps(v, _mm256_castsi256_ps(bits));
}
