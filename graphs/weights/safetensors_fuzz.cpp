#include <cstdint>

#include "graphs/base/error.hpp"
#include "graphs/weights/formats.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (size < 8) return 0;
  try {
    espalier::read_safetensors(bytes);
  } catch (const espalier::InputError&) {
  }
  return 0;
}
