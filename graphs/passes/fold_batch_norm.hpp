#pragma once

#include "graphs/passes/editor.hpp"

namespace espalier {

/// Batch normalization behind a convolution, a transposed convolution or a Gemm with constant weights goes
/// into the weights: with s = scale / sqrt(variance + epsilon), W' = s W by output channel and b' = s (b -
/// mean) + bias.
bool fold_batch_norm(Editor& editor, std::int32_t i);

/// Mul or Add of a constant by channel behind the same operators (and Add behind a MatMul, which becomes a
/// Gemm) goes into weights and bias.
bool fuse_bias(Editor& editor, std::int32_t i);

}  // namespace espalier
