#pragma once

#include "experiments/images/image.hpp"

/// The decoders behind decode_image, one file a format. Each throws InputError with `name` in front.
namespace espalier {

/// EXIF orientation 1..8 together with the pixels; 1 where the file has none.
struct Decoded {
  Image image;
  int orientation = 1;
};

Decoded decode_jpeg(std::string_view bytes, const std::string& name, const DecodeOptions& options);
Decoded decode_png(std::string_view bytes, const std::string& name, const DecodeOptions& options);
Decoded decode_webp(std::string_view bytes, const std::string& name, const DecodeOptions& options);

/// InputError when width x height is 0 or above the limit.
void check_image_size(std::int64_t width, std::int64_t height, const std::string& name,
                      const DecodeOptions& options);

/// Orientation out of an EXIF block (TIFF header first; a leading "Exif\0\0" is skipped). 1 when absent or
/// damaged. Source: Exif 2.32, section 4.6.4, tag 0x0112.
int exif_orientation(std::string_view exif);

/// The image turned and mirrored so that orientation `o` (1..8) becomes 1.
Image apply_orientation(Image image, int o);

}  // namespace espalier
