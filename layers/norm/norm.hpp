#pragma once

#include <span>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// BatchNormalization, InstanceNormalization, GroupNormalization and LRN on [N, spatial..., C];
/// LayerNormalization, LpNormalization and MeanVarianceNormalization on any shape.
std::span<const Layer> norm_layers();

Layer batch_normalization_layer();
Layer instance_normalization_layer();
Layer group_normalization_layer();
Layer layer_normalization_layer();
Layer lrn_layer();
Layer lp_normalization_layer();
Layer mean_variance_normalization_layer();

/// InputError unless input i is there and has `n` elements on one axis.
void require_vector(const NodeView& view, std::size_t i, std::int64_t n, const char* what);
/// `flops` for each element of input 0; inputs read once, outputs written once.
LayerCost norm_cost(const NodeView& view, double flops);
std::string refuses_all_but_float32(const NodeView& view);

}  // namespace espalier
