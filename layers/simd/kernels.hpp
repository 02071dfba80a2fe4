#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "graphs/ir/layer.hpp"

/// Inner loops of our own, compiled for AVX-512 and for AVX2 with FMA and chosen at run time.
namespace espalier::simd {

enum class Activation { clamp, silu, sigmoid, hard_swish };

/// What follows a sum: y = activation(sum + bias + residual), or activation(sum + bias) + residual when
/// `residual_last`. The clamp also serves for Relu and, unbounded, for no activation.
struct Epilogue {
  const float* bias = nullptr;  ///< one a column, padded to whole vectors
  Activation activation = Activation::clamp;
  float low = -std::numeric_limits<float>::infinity();
  float high = std::numeric_limits<float>::infinity();
  bool has_residual = false, residual_last = false;
  int residual_input = -1;  ///< the node's input that is the residual
};

/// C[m, n] = epilogue(sum_k A[m, k] B[k, n]); rows of A, C and the residual are `lda` and `ldc` apart. B is
/// packed by pack_b.
struct GemmCall {
  std::int64_t m = 0, n = 0, k = 0;
  const float* a = nullptr;
  std::int64_t lda = 0;
  const float* b = nullptr;
  float* c = nullptr;
  std::int64_t ldc = 0;
  const float* residual = nullptr;  ///< at C's place, or nullptr
  const float* next_b = nullptr;    ///< packed B of the product that follows, to be fetched ahead, or nullptr
};

/// y[o, c] = epilogue(sum over the kernel of x * w) for one row of outputs of a depthwise convolution over
/// `channels`. `rows` are the kernel_h input rows, nullptr where padding. w is [kernel_h, kernel_w, channels
/// padded].
struct DepthwiseRow {
  const float* const* rows = nullptr;
  int kernel_h = 0, kernel_w = 0, stride = 1, dilation = 1;
  std::int64_t in_w = 0, out_w = 0, pad = 0, channels = 0;
  const float* w = nullptr;
  std::int64_t w_step = 0;  ///< channels padded to whole vectors
  float* y = nullptr;
  const float* residual = nullptr;
};

/// A 6x6 piece of the input of Winograd's F(4x4, 3x3); rows outside [top, bottom) and columns outside [left,
/// right) are padding. `x` is where row 0, column 0 is or would be.
struct WinogradTile {
  const float* x = nullptr;
  std::int64_t row_step = 0, column_step = 0;
  int top = 0, bottom = 6, left = 0, right = 6;
};

/// Where the 4x4 results go, of which the first `rows` x `columns` exist.
struct WinogradResult {
  float* y = nullptr;
  const float* residual = nullptr;
  std::int64_t row_step = 0, column_step = 0;
  int rows = 4, columns = 4;
};

/// Floats of a B that is taken to stay in the second-level cache, and of a block of A that does.
constexpr std::int64_t kResidentFloats = 150000, kBlockFloats = 200000;

struct Kernels {
  const char* name;
  int width;  ///< floats of a vector
  void (*gemm)(const GemmCall&, const Epilogue&);
  void (*depthwise_row)(const DepthwiseRow&, const Epilogue&);
  /// V[p][c] = (B^T d B)[p] for the 36 points, `v_point` floats apart; channels must be whole vectors.
  void (*winograd_input)(const WinogradTile&, std::int64_t channels, float* v, std::int64_t v_point);
  /// y = epilogue(A^T M A); filters must be whole vectors.
  void (*winograd_output)(const float* m, std::int64_t m_point, std::int64_t filters, const WinogradResult&,
                          const Epilogue&);
};

/// The best for this processor; nullptr when it has neither AVX-512 nor AVX2 with FMA, or when the
/// environment variable ESPALIER_ISA asks for less (avx2, none).
const Kernels* kernels();
extern const Kernels kAvx512, kAvx2;

/// Floats of a packed B, and the packing: panels of two vectors of columns (the last of three when an odd
/// number is left), each with its k rows one behind the other, zero behind column n. `at(k, n)` gives an
/// element.
std::int64_t packed_b_floats(std::int64_t k, std::int64_t n, int width);
template <class At>
void pack_b(std::int64_t k, std::int64_t n, int width, float* out, At&& at) {
  const std::int64_t vectors = (n + width - 1) / width;
  for (std::int64_t v = 0; v < vectors;) {
    const std::int64_t take = vectors - v == 3 ? 3 : vectors - v == 1 ? 1 : 2;
    for (std::int64_t i = 0; i < k; ++i)
      for (std::int64_t j = v * width; j < (v + take) * width; ++j) *out++ = j < n ? at(i, j) : 0.0F;
    v += take;
  }
}

/// The node's fused operations as an epilogue (without bias); says why when they are others.
std::string read_epilogue(const NodeView& view, Epilogue& epilogue);

}  // namespace espalier::simd
