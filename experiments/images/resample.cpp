#include "experiments/images/resample.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

constexpr int kFractionBits = 22;  // 32 less 8 bits of a pixel and 2 spare

/// For each output position of [first, first + count) the inputs it reads and their weights.
struct Taps {
  std::vector<int> begin;             ///< first input
  std::vector<int> count;             ///< inputs
  std::vector<std::int32_t> weights;  ///< `stride` for each output
  int stride = 0;
};

Taps triangle_taps(int in, int out, int first, int count) {
  const double scale = static_cast<double>(in) / out, reach = std::max(scale, 1.0);
  Taps taps;
  taps.stride = static_cast<int>(std::ceil(reach)) * 2 + 1;
  taps.weights.assign(static_cast<std::size_t>(taps.stride) * count, 0);
  std::vector<double> w(static_cast<std::size_t>(taps.stride));
  for (int i = 0; i < count; ++i) {
    const double centre = (first + i + 0.5) * scale;
    // Pillow's own rounding  NOLINTBEGIN(bugprone-incorrect-roundings)
    const int from = std::max(0, static_cast<int>(centre - reach + 0.5)),
              to = std::min(in, static_cast<int>(centre + reach + 0.5));
    // NOLINTEND(bugprone-incorrect-roundings)
    double total = 0;
    for (int x = from; x < to; ++x)
      total += w[x - from] = std::max(0.0, 1 - std::fabs((x - centre + 0.5) / reach));
    for (int x = from; x < to; ++x)
      taps.weights[static_cast<std::size_t>(i) * taps.stride + (x - from)] =
          static_cast<std::int32_t>(std::lround(w[x - from] / total * (1 << kFractionBits)));
    taps.begin.push_back(from);
    taps.count.push_back(to - from);
  }
  return taps;
}

std::uint8_t round_to_pixel(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> kFractionBits, 0, 255));
}

constexpr std::int32_t kHalf = 1 << (kFractionBits - 1);

void resample_row(const std::uint8_t* in, const Taps& taps, std::uint8_t* out) {
  for (std::size_t i = 0; i < taps.begin.size(); ++i) {
    const std::int32_t* w = taps.weights.data() + i * taps.stride;
    const std::uint8_t* p = in + std::size_t{3} * taps.begin[i];
    std::int32_t r = kHalf, g = kHalf, b = kHalf;
    for (int k = 0; k < taps.count[i]; ++k, p += 3) {
      r += w[k] * p[0];
      g += w[k] * p[1];
      b += w[k] * p[2];
    }
    *out++ = round_to_pixel(r);
    *out++ = round_to_pixel(g);
    *out++ = round_to_pixel(b);
  }
}

}  // namespace

Size size_with_shorter_side(const Image& image, int shorter) {
  const auto other = [&](std::int64_t longer, std::int64_t side) {
    return static_cast<int>(shorter * longer / side);
  };
  if (image.width <= image.height) return {shorter, other(image.height, image.width)};
  return {other(image.width, image.height), shorter};
}

Image resample(const Image& image, Size size, Rectangle part) {
  const Taps across = triangle_taps(image.width, size.width, part.left, part.width);
  const Taps down = triangle_taps(image.height, size.height, part.top, part.height);
  const int first_row = down.begin.front(), last_row = down.begin.back() + down.count.back();
  const std::size_t row_bytes = std::size_t{3} * part.width;
  std::vector<std::uint8_t> narrow(row_bytes * (last_row - first_row));
  for (int y = first_row; y < last_row; ++y)
    resample_row(image.rgb.data() + std::size_t{3} * image.width * y, across,
                 narrow.data() + row_bytes * (y - first_row));

  Image out{part.width, part.height, std::vector<std::uint8_t>(row_bytes * part.height)};
  std::vector<std::int32_t> sums(row_bytes);
  for (int y = 0; y < part.height; ++y) {
    std::fill(sums.begin(), sums.end(), kHalf);
    for (int k = 0; k < down.count[y]; ++k) {
      const std::int32_t w = down.weights[static_cast<std::size_t>(y) * down.stride + k];
      const std::uint8_t* row = narrow.data() + row_bytes * (down.begin[y] + k - first_row);
      for (std::size_t i = 0; i < row_bytes; ++i) sums[i] += w * row[i];
    }
    std::transform(sums.begin(), sums.end(), out.rgb.data() + row_bytes * y, round_to_pixel);
  }
  return out;
}

}  // namespace espalier
