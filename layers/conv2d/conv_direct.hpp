#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// oneDNN's convolution and deconvolution on channels-last activations, weights packed as it likes them.
std::string conv_direct_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_conv_direct(const NodeView& view, PrepareContext& context);

/// The same with input and weight rounded to bfloat16 and sums in float32.
std::string conv_bf16_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_conv_bf16(const NodeView& view, PrepareContext& context);

std::string conv_transpose_direct_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_conv_transpose_direct(const NodeView& view, PrepareContext& context);

}  // namespace espalier
