#include <cstdint>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/plan/plan_json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(
        espalier::plan_from_json({reinterpret_cast<const char*>(data), size}, "plan.json").plan.makespan);
  } catch (const espalier::InputError&) {
  }
  return 0;
}
