#pragma once

#include <bit>
#include <cstdint>

#include "layers/common/simd.hpp"

/// exp, logistic and tanh of one float without branches or calls, so that a loop over them becomes vector
/// code. Method: S. L. Moshier, Methods and Programs for Mathematical Functions, 1989: argument reduction by
/// ln 2 in two parts and a polynomial. Errors are at most 2 units in the last place of the result (tested).
namespace espalier {

/// e^x. Below -87.3 zero, above 88.7 the value there: no infinity, no denormal.
ESPALIER_INLINE float fast_exp(float value) {
  constexpr float kLog2E = 1.44269504088896341F;
  constexpr float kLn2High = 0.693359375F, kLn2Low = -2.12194440e-4F;
  constexpr float kRound = 12582912.0F;  // 1.5 2^23: adding it rounds to an integer in the low bits
  float x = value < -87.3F ? -87.3F : value;
  x = x > 88.7F ? 88.7F : x;
  const float shifted = x * kLog2E + kRound;
  const float n = shifted - kRound;
  float r = x - n * kLn2High;
  r = r - n * kLn2Low;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  const float y = p * r * r + r + 1.0F;
  // times 2^n in two factors, since n = 128 has no float of its own
  const std::int32_t whole = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRound);
  const std::int32_t half = whole >> 1;
  const float a = std::bit_cast<float>((half + 127) << 23);
  const float b = std::bit_cast<float>((whole - half + 127) << 23);
  return value < -87.3F ? 0.0F : y * a * b;
}

/// 1 / (1 + e^-x).
ESPALIER_INLINE float fast_logistic(float x) {
  return 1.0F / (1.0F + fast_exp(-x));
}

ESPALIER_INLINE float fast_tanh(float x) {
  const float size = x < 0 ? -x : x;
  const float z = x * x;
  float p = -5.70498872745e-3F;
  p = p * z + 2.06390887954e-2F;
  p = p * z - 5.37397155531e-2F;
  p = p * z + 1.33314422036e-1F;
  p = p * z - 3.33332819422e-1F;
  const float small = p * z * x + x;
  const float large = 1.0F - 2.0F / (fast_exp(2.0F * size) + 1.0F);
  const float signed_large = x < 0 ? -large : large;
  return size < 0.625F ? small : signed_large;
}

}  // namespace espalier
