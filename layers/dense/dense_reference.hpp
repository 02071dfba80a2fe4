#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Plain loops; float types are summed in double, integers wrap around.
std::string dense_reference_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_dense_reference(const NodeView& view, PrepareContext& context);

}  // namespace espalier
