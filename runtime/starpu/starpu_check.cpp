#include "runtime/starpu/starpu_check.hpp"

#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier::starpu {

void check(int code, const char* call) {
  if (code < 0) throw DeviceError(fmt::format("StarPU: {} failed: {}", call, std::strerror(-code)));
}

}  // namespace espalier::starpu
