#include "layers/conv2d/conv_layers.hpp"

#include "layers/common/post_ops.hpp"
#include "layers/conv2d/conv_direct.hpp"
#include "layers/conv2d/conv_gemm.hpp"
#include "layers/conv2d/conv_reference.hpp"
#include "layers/conv2d/conv_shape.hpp"
#include "layers/conv2d/conv_winograd.hpp"
#include "layers/conv2d/pointwise_depthwise.hpp"

namespace espalier {
namespace {

std::vector<TensorType> output_of(const NodeView& view, const ConvShape& s) {
  return {{view.inputs[0]->dtype, window_output(s.window, s.batch, s.filters)}};
}

std::vector<TensorType> infer_conv(const NodeView& view) {
  return output_of(view, conv_shape(view));
}
std::vector<TensorType> infer_transpose(const NodeView& view) {
  return output_of(view, conv_transpose_shape(view));
}

LayerCost cost_conv(const NodeView& view) {
  const ConvShape s = conv_shape(view);
  return conv_cost(view, s, s.window.out_points());
}

LayerCost cost_transpose(const NodeView& view) {
  const ConvShape s = conv_transpose_shape(view);
  return conv_cost(view, s, s.window.in_points());
}

constexpr Implementation kConv[] = {
    {"bf16", conv_bf16_refuses, prepare_conv_bf16},
    {"depthwise", conv_depthwise_refuses, prepare_conv_depthwise},
    {"winograd", conv_winograd_refuses, prepare_conv_winograd},
    {"gemm", conv_gemm_refuses, prepare_conv_gemm},
    {"direct", conv_direct_refuses, prepare_conv_direct},
    {"reference", conv_reference_refuses, prepare_conv_reference},
};

constexpr Implementation kTranspose[] = {
    {"direct", conv_transpose_direct_refuses, prepare_conv_transpose_direct},
    {"reference", conv_reference_refuses, prepare_conv_transpose_reference},
};

const Layer kLayers[] = {
    {.op = "Conv",
     .summary = "convolution over 1 to 3 spatial axes; grouped, depthwise, dilated",
     .min_inputs = 2,
     .max_inputs = 3,
     .max_outputs = 1,
     .layout = LayoutRule::channels_last,
     .infer = infer_conv,
     .cost = cost_conv,
     .can_fuse = can_fuse_post_op,
     .implementations = kConv},
    {.op = "ConvTranspose",
     .summary = "transposed convolution over 1 to 3 spatial axes",
     .min_inputs = 2,
     .max_inputs = 3,
     .max_outputs = 1,
     .layout = LayoutRule::channels_last,
     .infer = infer_transpose,
     .cost = cost_transpose,
     .can_fuse = can_fuse_post_op,
     .implementations = kTranspose},
    pointwise_depthwise_layer(),
};

}  // namespace

std::span<const Layer> conv_layers() {
  return kLayers;
}

}  // namespace espalier
