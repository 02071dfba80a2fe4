#include "graphs/base/error.hpp"
#include "graphs/ir/npy.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    espalier::parse_npy({reinterpret_cast<const char*>(data), size}, "fuzz.npy");
  } catch (const espalier::InputError&) {
  }
  return 0;
}
