#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Plain loops over any float type, summed in double.
std::string conv_reference_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_conv_reference(const NodeView& view, PrepareContext& context);
std::unique_ptr<Kernel> prepare_conv_transpose_reference(const NodeView& view, PrepareContext& context);

}  // namespace espalier
