#pragma once

#include "graphs/passes/editor.hpp"

namespace espalier {

/// Removes a node that passes its input on unchanged (Identity; Reshape, Flatten, Squeeze, Expand, Tile,
/// Slice, Pad to the same shape; Cast to the same dtype; Transpose by the identity; Concat, Sum, Max, Min,
/// Mean of one tensor; Add 0, Mul 1, Div 1), and joins Reshape behind Reshape.
bool eliminate_identity(Editor& editor, std::int32_t i);

/// Writes Flatten, Squeeze and Unsqueeze as Reshape with a constant shape, so that chains of them join.
bool join_reshapes(Editor& editor, std::int32_t i);

}  // namespace espalier
