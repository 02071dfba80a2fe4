#pragma once

#include <span>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Element by element with NumPy broadcasting: arithmetic (Add ... Pow, Mod, BitShift, PRelu, and the n-ary
/// Min, Max, Sum, Mean), comparisons, And, Or, Xor, the bitwise ones, and Where.
std::span<const Layer> binary_layers();

/// One input, same shape: Abs ... Erf, IsNaN, IsInf, Not, BitwiseNot, Identity, Cast and CastLike.
std::span<const Layer> unary_layers();

}  // namespace espalier
