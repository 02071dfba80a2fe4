#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// oneDNN's matmul; a constant B is packed once.
std::string dense_matmul_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_dense_matmul(const NodeView& view, PrepareContext& context);

/// The same with both operands rounded to bfloat16 and sums in float32.
std::string dense_bf16_refuses(const NodeView& view, const KernelOptions& options);
std::unique_ptr<Kernel> prepare_dense_bf16(const NodeView& view, PrepareContext& context);

}  // namespace espalier
