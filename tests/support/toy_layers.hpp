#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier::test {

/// A few layers in plain loops, enough to test import, binding and the passes without layers/: Relu, Add,
/// Neg, Identity, Transpose, Reshape, Concat, Gather, and the spatial operator "SpatialToy" (channels last):
/// output [n, ..., c] = c + 10 x input, so that a wrong axis order shows.
const LayerTable& toy_layers();

}  // namespace espalier::test
