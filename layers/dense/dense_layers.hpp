#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Gemm and MatMul.
std::span<const Layer> dense_layers();

}  // namespace espalier
