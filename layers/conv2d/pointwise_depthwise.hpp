#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// The layer PointwiseDepthwise, which passes/fuse_pointwise_depthwise makes of a 1x1 convolution that only a
/// depthwise one reads:
///   y = depthwise(activation(pointwise(x, w1) + b1), w2) + b2
/// Inputs x [N, H, W, C], w1 [E, C, 1, 1], b1 [E] or absent, w2 [E, 1, kh, kw], b2 [E] or absent. Attributes:
/// those of the depthwise Conv, and activation (ONNX name or ""), activation_alpha, activation_beta as in
/// PostOp. The wide tensor in between never leaves the cache: its rows are made when the depthwise window
/// needs them.
Layer pointwise_depthwise_layer();

}  // namespace espalier
