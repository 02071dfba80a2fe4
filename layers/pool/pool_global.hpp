#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// GlobalAveragePool of float32: whole rows of channels are added, eight points at a time.
std::string pool_global_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_pool_global(const NodeView& view, PrepareContext& context);

}  // namespace espalier
