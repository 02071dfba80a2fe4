#pragma once

#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Y[batch..., m, n] = alpha sum_k A[batch..., m, k] B[batch..., k, n] + beta C, of Gemm and MatMul alike.
/// Strides are in elements and 0 where an operand is broadcast.
struct DenseShape {
  std::vector<std::int64_t> batch;  ///< broadcast over both operands
  std::int64_t m = 1, k = 1, n = 1;
  std::vector<std::int64_t> a_batch, b_batch;  ///< strides along the batch axes
  std::int64_t a_m = 0, a_k = 0, b_k = 0, b_n = 0;
  float alpha = 1, beta = 0;
  bool has_c = false;
  std::int64_t c_m = 0, c_n = 0;
  Shape output;
  std::int64_t batches() const { return Shape(batch).elements(); }
  /// B is the same matrix for the whole batch.
  bool shared_b() const;
  /// The rows of A of all batches stand one behind the other.
  bool stacked_a() const;
};

/// Of Gemm: A and B are matrices, C broadcasts to [M, N] from behind. InputError otherwise.
DenseShape gemm_shape(const NodeView& view);
/// Of MatMul, as numpy.matmul: leading axes broadcast, a vector is a row in front and a column behind. The
/// optional third input, which ONNX lacks and fusion adds, is a bias [N].
DenseShape matmul_shape(const NodeView& view);
/// By the node's operator.
DenseShape dense_shape(const NodeView& view);

}  // namespace espalier
