#include <cstddef>
#include <cstdint>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/simgrid/job.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(espalier::simgrid::job_from_json({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const espalier::InputError&) {
  }
  return 0;
}
