#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Plain loops over any dtype that the operator takes; gives MaxPool's Indices too.
std::string pool_reference_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_pool_reference(const NodeView& view, PrepareContext& context);

}  // namespace espalier
