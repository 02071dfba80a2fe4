#include <cstdint>
#include <string>

#include "runtime/perfmodel/fitted/kernel_calls.hpp"

// Signatures hold names and numbers of models that strangers send.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  for (const char* codelet : {"conv2d_forward", "x_backward_input", "x_backward_weight"})
    if (const auto calls = espalier::fitted::kernel_calls(codelet, text))
      for (const auto& call : calls->calls)
        static_cast<void>(espalier::fitted::flops_of(call.kind, call.problem));
  return 0;
}
