#pragma once

#include <string>

namespace espalier {

/// The name behind "starpu:" of a --scheduler that only takes StarPU's own policies. InputError without it.
std::string starpu_policy(const std::string& scheduler);

}  // namespace espalier
