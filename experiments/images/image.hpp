#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace espalier {

/// 8-bit RGB, rows from the top, no padding: rgb[(y * width + x) * 3 + channel].
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;
};

struct DecodeOptions {
  std::int64_t max_pixels = 200'000'000;  ///< a larger image is refused before its pixels are allocated
  bool apply_exif_orientation = false;    ///< torchvision leaves it alone, so the default does as well
};

/// Decodes JPEG, PNG or WebP, told apart by content. Grey is repeated over the channels, CMYK is converted as
/// Pillow does (R = (255 - C)(255 - K) / 255), alpha is dropped, 16 bit are scaled to 8, of an animation the
/// first frame is taken. Thread-safe. InputError (the name in front) when the content is none of these,
/// truncated or corrupt, or has more than max_pixels.
Image decode_image(std::string_view bytes, const std::string& name, const DecodeOptions& options = {});

}  // namespace espalier
