#include <cstdint>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/sources/source.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  espalier::TaskGraphOptions options;
  options.micro_batches = size > 0 ? 1 + data[0] % 3 : 1;
  try {
    static_cast<void>(
        espalier::read_dnn_partitioning({reinterpret_cast<const char*>(data), size}, "fuzz", options));
  } catch (const espalier::InputError&) {
  }
  return 0;
}
