#include <cstdint>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(espalier::read_platform({reinterpret_cast<const char*>(data), size}, "fuzz.yaml"));
  } catch (const espalier::InputError&) {
  }
  return 0;
}
