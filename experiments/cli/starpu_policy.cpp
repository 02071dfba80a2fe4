#include "experiments/cli/starpu_policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "runtime/starpu/machine.hpp"

namespace espalier {

std::string starpu_policy(const std::string& scheduler) {
  constexpr std::string_view prefix = "starpu:";
  if (!scheduler.starts_with(prefix))
    throw InputError(fmt::format("--scheduler {}: starpu:NAME is needed, NAME one of {}", scheduler,
                                 fmt::join(starpu::available_policies(), ", ")));
  return scheduler.substr(prefix.size());
}

}  // namespace espalier
