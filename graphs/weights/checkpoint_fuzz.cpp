#include <cstdint>

#include "graphs/base/error.hpp"
#include "graphs/weights/weights.hpp"

/// Whole files in each format, and, since a zip's directory and a stream's first pickles are hard to guess,
/// an input that begins with 'L' is the rest of a legacy stream behind its fixed beginning.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace std::string_literals;
  static const std::string beginning =
      "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.\x80\x02M\xe9\x03.\x80\x02}X\x0d\0\0\0little_endian\x88s."s;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('L')) bytes = beginning + bytes.substr(1);
  try {
    espalier::read_weights_bytes(bytes, "fuzz");
  } catch (const espalier::InputError&) {
  }
  return 0;
}
