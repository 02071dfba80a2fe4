#include <cstdint>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/perfmodel/fitted/all_reduce.hpp"
#include "runtime/perfmodel/fitted/measurements.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    espalier::fitted::MeasurementReader reader;
    reader.add({reinterpret_cast<const char*>(data), size}, "fuzz_4gpu.csv");
    for (const auto& times : reader.finish().all_reduces)
      static_cast<void>(espalier::fitted::fit_all_reduce(times));
  } catch (const espalier::InputError&) {
  }
  return 0;
}
