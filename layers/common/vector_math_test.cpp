#include "layers/common/vector_math.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace espalier {
namespace {

struct Body {
  static ESPALIER_INLINE void run(const float* x, float* e, float* s, float* t, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) {
      e[i] = fast_exp(x[i]);
      s[i] = fast_logistic(x[i]);
      t[i] = fast_tanh(x[i]);
    }
  }
};

/// Error in units of the last place of the true value.
double ulps(float got, double want) {
  const auto w = std::abs(static_cast<float>(want));
  const double ulp = std::nextafter(w, std::numeric_limits<float>::infinity()) - w;
  return std::abs(static_cast<double>(got) - want) / ulp;
}

TEST(VectorMath, StaysWithinAFewUnitsInTheLastPlace) {
  std::vector<float> x;
  for (float v = -87; v < 88; v += 0.00371F) x.push_back(v);
  for (float v = 1e-20F; v < 1; v *= 1.01F) x.insert(x.end(), {v, -v});
  const std::size_t n = x.size();
  std::vector<float> e(n), s(n), t(n);
  simd_call<Body>(static_cast<const float*>(x.data()), e.data(), s.data(), t.data(),
                  static_cast<std::int64_t>(n));
  double worst_exp = 0, worst_logistic = 0, worst_tanh = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double v = x[i];
    worst_exp = std::max(worst_exp, ulps(e[i], std::exp(v)));
    worst_logistic = std::max(worst_logistic, ulps(s[i], 1 / (1 + std::exp(-v))));
    worst_tanh = std::max(worst_tanh, ulps(t[i], std::tanh(v)));
  }
  EXPECT_LT(worst_exp, 2);
  EXPECT_LT(worst_logistic, 4);
  EXPECT_LT(worst_tanh, 2);
}

TEST(VectorMath, ExtremesSaturateAndNanStays) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(fast_exp(-inf), 0.0F);
  EXPECT_GT(fast_exp(inf), 3e38F);
  EXPECT_EQ(fast_tanh(inf), 1.0F);
  EXPECT_EQ(fast_tanh(-inf), -1.0F);
  EXPECT_EQ(fast_logistic(inf), 1.0F);
  EXPECT_LT(fast_logistic(-inf), 1e-37F);
  EXPECT_TRUE(std::isnan(fast_exp(NAN)));
  EXPECT_TRUE(std::isnan(fast_tanh(NAN)));
}

}  // namespace
}  // namespace espalier
