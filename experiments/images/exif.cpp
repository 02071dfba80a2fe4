#include "experiments/images/decode_formats.hpp"

namespace espalier {
namespace {

/// Reads 16 and 32-bit numbers in the byte order of the TIFF header; 0 outside of the block.
class TiffReader {
 public:
  explicit TiffReader(std::string_view block) : block_(block), big_endian_(block.starts_with("MM")) {}
  std::uint32_t u16(std::size_t at) const { return number(at, 2); }
  std::uint32_t u32(std::size_t at) const { return number(at, 4); }

 private:
  std::uint32_t number(std::size_t at, std::size_t n) const {
    if (at > block_.size() || block_.size() - at < n) return 0;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < n; ++i)
      value = value << 8 | static_cast<unsigned char>(block_[at + (big_endian_ ? i : n - 1 - i)]);
    return value;
  }
  std::string_view block_;
  bool big_endian_;
};

}  // namespace

int exif_orientation(std::string_view exif) {
  constexpr std::uint32_t kOrientation = 0x0112, kTiffMagic = 42;
  if (exif.starts_with(std::string_view("Exif\0\0", 6))) exif.remove_prefix(6);
  if (!exif.starts_with("II") && !exif.starts_with("MM")) return 1;
  const TiffReader tiff(exif);
  if (tiff.u16(2) != kTiffMagic) return 1;
  const std::size_t directory = tiff.u32(4);
  const std::uint32_t entries = tiff.u16(directory);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + std::size_t{12} * i;
    if (entry >= exif.size()) return 1;
    if (tiff.u16(entry) == kOrientation) {
      const std::uint32_t o = tiff.u16(entry + 8);
      return o >= 1 && o <= 8 ? static_cast<int>(o) : 1;
    }
  }
  return 1;
}

}  // namespace espalier
