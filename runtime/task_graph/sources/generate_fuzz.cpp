#include <cstdint>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/sources/generator_options.hpp"

/// The options only: a large graph that was asked for is no fault.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    espalier::source::GeneratorOptions options({reinterpret_cast<const char*>(data), size});
    options.whole("tiles", 20, 1, 350, true);
    options.number("ccr", 0, 0, 1e6);
    options.finish();
  } catch (const espalier::InputError&) {
  }
  return 0;
}
