#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// 1x1 convolutions as one matrix product, others over rows gathered block by block, with our own inner
/// loops.
std::string conv_gemm_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_conv_gemm(const NodeView& view, PrepareContext& context);

/// Depthwise convolutions with our own inner loops.
std::string conv_depthwise_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_conv_depthwise(const NodeView& view, PrepareContext& context);

}  // namespace espalier
