#pragma once

#include "experiments/conformance/conformance.hpp"
#include "runtime/starpu/machine.hpp"

namespace espalier::conformance {

/// Optimises, lowers and runs every graph as StarPU tasks. The machine and the table must outlive it. Not
/// thread-safe.
Executor starpu_executor(starpu::Machine& machine, const LayerTable& layers);

}  // namespace espalier::conformance
