#include <csetjmp>
#include <cstring>
#include <fmt/format.h>
#include <png.h>

#include "experiments/images/decode_formats.hpp"
#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// libpng reports through callbacks; an error jumps back into the function that called it. Those functions
/// hold no object with a destructor.
struct Decoder {
  png_structp png = nullptr;
  png_infop info = nullptr;
  const char* next = nullptr;
  std::size_t left = 0;
  char message[256] = "";
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  ~Decoder() { png_destroy_read_struct(&png, &info, nullptr); }
};

void on_error(png_structp png, png_const_charp text) {
  auto* d = static_cast<Decoder*>(png_get_error_ptr(png));
  std::snprintf(d->message, sizeof d->message, "%s", text);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep out, png_size_t n) {
  auto* d = static_cast<Decoder*>(png_get_io_ptr(png));
  if (n > d->left) png_error(png, "the data ends too early");
  std::memcpy(out, d->next, n);
  d->next += n;
  d->left -= n;
}

bool read_header(Decoder& d) {
  if (setjmp(png_jmpbuf(d.png)) != 0) return false;
  png_set_read_fn(d.png, &d, on_read);
  png_set_chunk_malloc_max(d.png, 64 << 20);
  png_read_info(d.png, d.info);
  return true;
}

/// Transformations to 8-bit RGB: alpha dropped, palette and grey expanded, 16 bit scaled.
bool set_up(Decoder& d) {
  if (setjmp(png_jmpbuf(d.png)) != 0) return false;
  png_set_expand(d.png);
  png_set_scale_16(d.png);
  png_set_gray_to_rgb(d.png);
  png_set_strip_alpha(d.png);
  png_set_interlace_handling(d.png);
  png_read_update_info(d.png, d.info);
  return true;
}

bool read_pixels(Decoder& d, png_bytepp rows) {
  if (setjmp(png_jmpbuf(d.png)) != 0) return false;
  png_read_image(d.png, rows);
  png_read_end(d.png, d.info);
  return true;
}

int find_orientation(Decoder& d) {
#ifdef PNG_eXIf_SUPPORTED
  png_uint_32 size = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(d.png, d.info, &size, &exif) != 0)
    return exif_orientation({reinterpret_cast<const char*>(exif), size});
#endif
  return 1;
}

}  // namespace

Decoded decode_png(std::string_view bytes, const std::string& name, const DecodeOptions& options) {
  Decoder d;
  d.next = bytes.data();
  d.left = bytes.size();
  d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
  if (d.png != nullptr) d.info = png_create_info_struct(d.png);
  if (d.info == nullptr) throw DeviceError("libpng could not be initialised");
  const auto fail = [&] { throw InputError(fmt::format("{}: damaged PNG: {}", name, d.message)); };

  if (!read_header(d)) fail();
  const auto width = png_get_image_width(d.png, d.info), height = png_get_image_height(d.png, d.info);
  check_image_size(width, height, name, options);
  if (!set_up(d)) fail();
  const std::size_t row_bytes = png_get_rowbytes(d.png, d.info);
  if (row_bytes != std::size_t{3} * width)
    throw InternalError(fmt::format("{}: a PNG row of {} bytes", name, row_bytes));
  Decoded out{
      {static_cast<int>(width), static_cast<int>(height), std::vector<std::uint8_t>(row_bytes * height)}, 1};
  std::vector<png_bytep> rows(height);
  for (std::size_t y = 0; y < height; ++y) rows[y] = out.image.rgb.data() + y * row_bytes;
  if (!read_pixels(d, rows.data())) fail();
  out.orientation = find_orientation(d);
  return out;
}

}  // namespace espalier
