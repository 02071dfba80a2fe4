#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace espalier {

/// A matrix B [N, K] (row-major, as ONNX stores W and R) packed for C = init + A B^T with few rows of A:
/// panels of as many rows of B as two vector registers hold, interleaved by k. N is padded to whole panels
/// with zeros. Immutable.
class PanelMatrix {
 public:
  /// `rows` of width K each: B's rows [first, first + n) at b, leading dimension K.
  PanelMatrix(const float* b, std::int64_t n, std::int64_t k);

  std::int64_t padded_columns() const { return padded_; }
  /// C[m, padded] (leading dimension ldc) = A[m, K] (lda) B^T + (bias != nullptr ? bias[padded] : C).
  void multiply(const float* a, std::int64_t lda, const float* bias, float* c, std::int64_t ldc,
                std::int64_t m) const;
  /// Columns of one panel on this machine.
  static std::int64_t panel_width();

 private:
  std::int64_t k_, padded_;
  std::shared_ptr<float> data_;
};

}  // namespace espalier
