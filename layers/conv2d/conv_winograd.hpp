#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Winograd's F(4x4, 3x3) for 3x3 convolutions of stride 1 (Lavin and Gray 2016, "Fast Algorithms for
/// Convolutional Neural Networks"): 36 matrix products over tiles in place of 144 multiplications a tile.
std::string conv_winograd_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_conv_winograd(const NodeView& view, PrepareContext& context);

}  // namespace espalier
