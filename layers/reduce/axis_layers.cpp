#include "layers/reduce/axis_layers.hpp"

#include "layers/reduce/reduce.hpp"

namespace espalier {

std::span<const Layer> axis_layers() {
  static const Layer layers[] = {
      arg_layer("ArgMax", "index of the greatest along an axis"),
      arg_layer("ArgMin", "index of the least along an axis"),
      top_k_layer(),
      cum_sum_layer(),
      hardmax_layer(),
  };
  return layers;
}

}  // namespace espalier
