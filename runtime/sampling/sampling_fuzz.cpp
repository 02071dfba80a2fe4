#include <cstddef>
#include <cstdint>
#include <string>

#include "graphs/base/error.hpp"
#include "runtime/sampling/bus_matrix.hpp"
#include "runtime/sampling/machine_xml.hpp"
#include "runtime/sampling/performance_model.hpp"

/// The first byte tells which of the texts of a sampling directory the rest is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    if (data[0] % 3 == 0) {
      // what was read can be written and read again
      const auto model = sampling::read_performance_model(text, "fuzz");
      static_cast<void>(
          sampling::read_performance_model(sampling::performance_model_to_text(model), "again"));
    } else if (data[0] % 3 == 1) {
      static_cast<void>(sampling::read_bus_matrix(text, "fuzz", 1 + data[0] % 5, 0));
    } else {
      static_cast<void>(sampling::read_machine_xml(text, "fuzz"));
    }
  } catch (const InputError&) {
  }
  return 0;
}
