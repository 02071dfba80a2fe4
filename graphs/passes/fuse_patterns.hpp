#pragma once

#include "graphs/passes/editor.hpp"

namespace espalier {

/// Activations that exporters write as products become one node. The factors of a chain of Mul and of Div by
/// a constant are gathered in any order; c is the product of the constant ones:
///   Silu       x * Sigmoid(x)
///   HardSwish  x * HardSigmoid(x; 1/6, 1/2), or c = 1/6 and x * Clip(x + 3; 0, 6)
///   Mish       x * Tanh(Softplus(x))
///   Gelu       c = 1/2 and x * (1 + Erf(x / sqrt 2)), or x * (1 + Tanh(sqrt(2/pi) (x + 0.044715 x^3)))
/// Every value inside but x must be read by the pattern alone.
bool fuse_patterns(Editor& editor, std::int32_t i);

}  // namespace espalier
