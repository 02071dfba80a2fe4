#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// oneDNN's pooling of float32 on channels-last activations.
std::string pool_direct_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_pool_direct(const NodeView& view, PrepareContext& context);

}  // namespace espalier
