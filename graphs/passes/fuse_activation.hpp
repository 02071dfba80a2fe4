#pragma once

#include "graphs/passes/editor.hpp"

namespace espalier {

/// An activation behind a node whose layer can fuse it becomes a fused operation of that node (PostOp) when
/// nothing else reads what lies between.
bool fuse_activation(Editor& editor, std::int32_t i);

/// Add (or Mul) of a tensor of the same shape behind a node whose layer can fuse it: the residual connection
/// of a ResNet. Of two such nodes the later one takes the sum. The fused node stands where the Add stood,
/// since the other operand may be computed between the two.
bool fuse_residual_add(Editor& editor, std::int32_t i);

}  // namespace espalier
