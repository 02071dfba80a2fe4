#include <fmt/format.h>

#include "experiments/images/decode_formats.hpp"
#include "graphs/base/error.hpp"

namespace espalier {

void check_image_size(std::int64_t width, std::int64_t height, const std::string& name,
                      const DecodeOptions& options) {
  if (width <= 0 || height <= 0)
    throw InputError(fmt::format("{}: the image has {} x {} pixels", name, width, height));
  if (width > options.max_pixels / height)
    throw InputError(fmt::format("{}: {} x {} pixels, at most {} pixels are accepted", name, width, height,
                                 options.max_pixels));
}

Image decode_image(std::string_view bytes, const std::string& name, const DecodeOptions& options) {
  if (bytes.empty())
    throw InputError(fmt::format("{}: the file is empty; JPEG, PNG or WebP is needed", name));
  Decoded decoded;
  if (bytes.starts_with("\xff\xd8\xff"))
    decoded = decode_jpeg(bytes, name, options);
  else if (bytes.starts_with("\x89PNG\r\n\x1a\n"))
    decoded = decode_png(bytes, name, options);
  else if (bytes.size() >= 12 && bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP")
    decoded = decode_webp(bytes, name, options);
  else
    throw InputError(fmt::format("{}: not an image that can be read; JPEG, PNG or WebP is needed", name));
  return options.apply_exif_orientation ? apply_orientation(std::move(decoded.image), decoded.orientation)
                                        : std::move(decoded.image);
}

Image apply_orientation(Image image, int o) {
  if (o < 2 || o > 8) return image;
  const bool swaps = o >= 5;
  Image out{swaps ? image.height : image.width, swaps ? image.width : image.height, {}};
  out.rgb.resize(image.rgb.size());
  for (int y = 0; y < out.height; ++y)
    for (int x = 0; x < out.width; ++x) {
      int sx = swaps ? y : x, sy = swaps ? x : y;
      if (o == 2 || o == 3 || o == 7 || o == 8) sx = image.width - 1 - sx;
      if (o == 3 || o == 4 || o == 6 || o == 7) sy = image.height - 1 - sy;
      for (int c = 0; c < 3; ++c)
        out.rgb[(static_cast<std::size_t>(y) * out.width + x) * 3 + c] =
            image.rgb[(static_cast<std::size_t>(sy) * image.width + sx) * 3 + c];
    }
  return out;
}

}  // namespace espalier
