#include <cstdint>
#include <string_view>

#include "experiments/images/image.hpp"
#include "graphs/base/error.hpp"

/// Any bytes are an image or an InputError.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    espalier::decode_image({reinterpret_cast<const char*>(data), size}, "fuzz", {4'000'000, true});
  } catch (const espalier::InputError&) {
  }
  return 0;
}
