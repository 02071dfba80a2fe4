#include "layers/recurrent/panel_matrix.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "layers/common/simd.hpp"

namespace espalier {
namespace {

/// kRows rows of C by one panel of two vectors of kLanes floats, with kUnroll independent sums over k.
template <int kLanes, int kRows, int kUnroll>
ESPALIER_INLINE void tile(const float* a, std::int64_t lda, const float* panel, const float* bias, float* c,
                          std::int64_t ldc, std::int64_t k_count) {
  typedef float Vector __attribute__((vector_size(kLanes * sizeof(float))));
  constexpr std::int64_t kWidth = 2 * kLanes;
  Vector sum[kUnroll][kRows][2];
#pragma GCC unroll 8
  for (int u = 0; u < kUnroll; ++u)
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v) {
        if (u > 0)
          sum[u][r][v] = Vector{};
        else
          std::memcpy(&sum[u][r][v], (bias != nullptr ? bias : c + r * ldc) + v * kLanes, sizeof(Vector));
      }
  std::int64_t k = 0;
  for (; k + kUnroll <= k_count; k += kUnroll)
#pragma GCC unroll 8
    for (int u = 0; u < kUnroll; ++u) {
      Vector b0, b1;
      std::memcpy(&b0, panel + (k + u) * kWidth, sizeof(Vector));
      std::memcpy(&b1, panel + (k + u) * kWidth + kLanes, sizeof(Vector));
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const float x = a[r * lda + k + u];
        sum[u][r][0] += x * b0;
        sum[u][r][1] += x * b1;
      }
    }
  for (; k < k_count; ++k) {
    Vector b0, b1;
    std::memcpy(&b0, panel + k * kWidth, sizeof(Vector));
    std::memcpy(&b1, panel + k * kWidth + kLanes, sizeof(Vector));
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const float x = a[r * lda + k];
      sum[0][r][0] += x * b0;
      sum[0][r][1] += x * b1;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
#pragma GCC unroll 8
      for (int u = 1; u < kUnroll; ++u) sum[0][r][v] += sum[u][r][v];
      std::memcpy(c + r * ldc + v * kLanes, &sum[0][r][v], sizeof(Vector));
    }
}

struct Product {
  const float* a;
  std::int64_t lda;
  const float* panels;
  const float* bias;
  float* c;
  std::int64_t ldc, m, k, panel_count;
};

template <int kLanes>
struct Multiply {
  static ESPALIER_INLINE void run(const Product* p) {
    constexpr std::int64_t kWidth = 2 * kLanes;
    constexpr int kRows = kLanes == 16 ? 8 : 4;
    for (std::int64_t panel = 0; panel < p->panel_count; ++panel) {
      const float* b = p->panels + panel * kWidth * p->k;
      const float* bias = p->bias == nullptr ? nullptr : p->bias + panel * kWidth;
      float* c = p->c + panel * kWidth;
      const float* a = p->a;
      std::int64_t left = p->m;
      for (; left >= kRows; left -= kRows, a += kRows * p->lda, c += kRows * p->ldc)
        tile<kLanes, kRows, 1>(a, p->lda, b, bias, c, p->ldc, p->k);
      if (kRows == 8 && left >= 4) {
        tile<kLanes, 4, 1>(a, p->lda, b, bias, c, p->ldc, p->k);
        left -= 4, a += 4 * p->lda, c += 4 * p->ldc;
      }
      if (left >= 2) {
        tile<kLanes, 2, 2>(a, p->lda, b, bias, c, p->ldc, p->k);
        left -= 2, a += 2 * p->lda, c += 2 * p->ldc;
      }
      if (left >= 1) tile<kLanes, 1, 4>(a, p->lda, b, bias, c, p->ldc, p->k);
    }
  }
};

int lanes() {
  switch (isa()) {
    case Isa::avx512:
      return 16;
    case Isa::avx2:
      return 8;
    case Isa::baseline:
      break;
  }
  return 4;
}

}  // namespace

std::int64_t PanelMatrix::panel_width() {
  return 2 * lanes();
}

PanelMatrix::PanelMatrix(const float* b, std::int64_t n, std::int64_t k) : k_(k) {
  const std::int64_t width = panel_width();
  padded_ = (n + width - 1) / width * width;
  const auto bytes = static_cast<std::size_t>(padded_ * k + 16) * sizeof(float) / 64 * 64 + 64;
  auto* data = static_cast<float*>(std::aligned_alloc(64, bytes));
  if (data == nullptr) throw std::bad_alloc();
  data_ = std::shared_ptr<float>(data, std::free);
  std::memset(data, 0, bytes);
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t i = 0; i < k; ++i) data[(row / width * k + i) * width + row % width] = b[row * k + i];
}

void PanelMatrix::multiply(const float* a, std::int64_t lda, const float* bias, float* c, std::int64_t ldc,
                           std::int64_t m) const {
  const Product p{a, lda, data_.get(), bias, c, ldc, m, k_, padded_ / panel_width()};
  const Product* pointer = &p;
  switch (lanes()) {
    case 16:
      return simd_detail::on_avx512<Multiply<16>>(pointer);
    case 8:
      return simd_detail::on_avx2<Multiply<8>>(pointer);
    default:
      Multiply<4>::run(pointer);
  }
}

}  // namespace espalier
