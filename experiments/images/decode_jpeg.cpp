#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <jerror.h>
#include <jpeglib.h>

#include "experiments/images/decode_formats.hpp"
#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// libjpeg reports through callbacks; an error jumps back into the function that called it. That function
/// holds no object with a destructor.
struct ErrorManager {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char message[JMSG_LENGTH_MAX];
  bool truncated;
};

void on_error(j_common_ptr info) {
  auto* errors = reinterpret_cast<ErrorManager*>(info->err);
  errors->base.format_message(info, errors->message);
  std::longjmp(errors->jump, 1);
}

void on_message(j_common_ptr info, int level) {
  auto* errors = reinterpret_cast<ErrorManager*>(info->err);
  if (level >= 0) return;
  ++errors->base.num_warnings;
  if (errors->base.msg_code == JWRN_JPEG_EOF || errors->base.msg_code == JWRN_HIT_MARKER)
    errors->truncated = true;
}

struct Decoder {
  jpeg_decompress_struct info;
  ErrorManager errors;
};

/// false: errors.message says why.
bool read_header(Decoder& d, std::string_view bytes) {
  if (setjmp(d.errors.jump) != 0) return false;
  jpeg_create_decompress(&d.info);
  jpeg_mem_src(&d.info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  jpeg_save_markers(&d.info, JPEG_APP0 + 1, 0xffff);
  jpeg_read_header(&d.info, TRUE);
  d.info.out_color_space = d.info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  // a progressive file keeps all coefficients: bound what libjpeg allocates to what the pixels justify
  d.info.mem->max_memory_to_use = 1L << 31;
  return true;
}

/// Rows go to `pixels`, of `row_bytes` each.
bool read_pixels(Decoder& d, unsigned char* pixels, std::size_t row_bytes) {
  if (setjmp(d.errors.jump) != 0) return false;
  jpeg_start_decompress(&d.info);
  while (d.info.output_scanline < d.info.output_height) {
    unsigned char* row = pixels + row_bytes * d.info.output_scanline;
    jpeg_read_scanlines(&d.info, &row, 1);
  }
  jpeg_finish_decompress(&d.info);
  return true;
}

int find_orientation(const jpeg_decompress_struct& info) {
  for (const jpeg_marker_struct* m = info.marker_list; m != nullptr; m = m->next)
    if (m->data_length > 6 && std::memcmp(m->data, "Exif\0\0", 6) == 0)
      return exif_orientation({reinterpret_cast<const char*>(m->data), m->data_length});
  return 1;
}

/// Files hold inverted CMYK, as Photoshop writes them: what is stored is 255 - ink.
std::vector<std::uint8_t> cmyk_to_rgb(const std::vector<std::uint8_t>& inverted) {
  std::vector<std::uint8_t> rgb(inverted.size() / 4 * 3);
  for (std::size_t i = 0; i < inverted.size() / 4; ++i)
    for (std::size_t c = 0; c < 3; ++c)
      rgb[i * 3 + c] = static_cast<std::uint8_t>((inverted[i * 4 + c] * inverted[i * 4 + 3] + 127) / 255);
  return rgb;
}

}  // namespace

Decoded decode_jpeg(std::string_view bytes, const std::string& name, const DecodeOptions& options) {
  Decoder d{};
  d.info.err = jpeg_std_error(&d.errors.base);
  d.errors.base.error_exit = on_error;
  d.errors.base.emit_message = on_message;
  struct Cleanup {
    jpeg_decompress_struct* info;
    ~Cleanup() { jpeg_destroy_decompress(info); }
  } cleanup{&d.info};
  const auto fail = [&](const char* what) {
    throw InputError(fmt::format("{}: {} JPEG: {}", name, what, d.errors.message));
  };

  if (!read_header(d, bytes)) fail("damaged");
  check_image_size(d.info.image_width, d.info.image_height, name, options);
  const std::size_t channels = d.info.num_components == 4 ? 4 : 3;
  Decoded out{{static_cast<int>(d.info.image_width), static_cast<int>(d.info.image_height), {}},
              find_orientation(d.info)};
  const std::size_t row_bytes = channels * d.info.image_width;
  out.image.rgb.resize(row_bytes * d.info.image_height);
  if (!read_pixels(d, out.image.rgb.data(), row_bytes)) fail("damaged");
  if (d.errors.truncated) {
    std::strcpy(d.errors.message, "the data ends before the last row");
    fail("truncated");
  }
  if (channels == 4) out.image.rgb = cmyk_to_rgb(out.image.rgb);
  return out;
}

}  // namespace espalier
