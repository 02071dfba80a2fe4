#pragma once

#include "experiments/images/image.hpp"

namespace espalier {

struct Size {
  int width, height;
};
struct Rectangle {
  int left, top, width, height;
};

/// The shorter side becomes `shorter`, the other floor(shorter * long / short), as torchvision's Resize.
Size size_with_shorter_side(const Image& image, int shorter);

/// The part `part` of the image resized to `size`: triangle filter, widened by the scale when shrinking
/// (antialiased), rows first and then columns with rounding to 8 bit between, in 22-bit fixed point: equal to
/// Pillow's BILINEAR (Pillow, "Filters"). Cost O(width(part) * height + area(part)) filter taps.
Image resample(const Image& image, Size size, Rectangle part);

}  // namespace espalier
