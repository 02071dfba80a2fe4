#include "layers/norm/norm.hpp"

#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {

void require_vector(const NodeView& view, std::size_t i, std::int64_t n, const char* what) {
  if (!view.has_input(i)) throw InputError(fmt::format("input {} ({}) is missing", i, what));
  if (view.shape(i) != Shape{n})
    throw InputError(fmt::format("{} has shape {}; [{}] is needed for an input of shape {} (channels last)",
                                 what, view.shape(i).to_string(), n, view.shape(0).to_string()));
}

LayerCost norm_cost(const NodeView& view, double flops) {
  LayerCost cost;
  cost.flops = Flops(flops * static_cast<double>(view.shape(0).elements()));
  for (const TensorType* type : view.inputs)
    if (type != nullptr) cost.bytes_read += Bytes(type->bytes());
  for (const TensorType* type : view.outputs)
    if (type != nullptr) cost.bytes_written += Bytes(type->bytes());
  return cost;
}

std::string refuses_all_but_float32(const NodeView& view) {
  for (const TensorType* type : view.inputs)
    if (type != nullptr && type->dtype != DType::f32)
      return "an input is " + std::string(name_of(type->dtype));
  return {};
}

std::span<const Layer> norm_layers() {
  static const std::vector<Layer> layers{batch_normalization_layer(),
                                         instance_normalization_layer(),
                                         group_normalization_layer(),
                                         layer_normalization_layer(),
                                         lrn_layer(),
                                         lp_normalization_layer(),
                                         mean_variance_normalization_layer()};
  return layers;
}

}  // namespace espalier
