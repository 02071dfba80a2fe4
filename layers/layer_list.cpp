#include "layers/layer_list.hpp"

#include "layers/activation/activation.hpp"
#include "layers/conv2d/conv_layers.hpp"
#include "layers/dense/dense_layers.hpp"
#include "layers/elementwise/elementwise.hpp"
#include "layers/movement/movement.hpp"
#include "layers/norm/norm.hpp"
#include "layers/pool/pool_layers.hpp"
#include "layers/recurrent/recurrent.hpp"
#include "layers/reduce/reduce.hpp"
#include "layers/softmax/softmax.hpp"

namespace espalier {
namespace {

std::vector<Layer> collect() {
  std::vector<Layer> layers;
  const auto add = [&](std::span<const Layer> family) {
    layers.insert(layers.end(), family.begin(), family.end());
  };
  add(conv_layers());
  add(dense_layers());
  add(movement_layers());
  add(norm_layers());
  add(pool_layers());
  add(recurrent_layers());
  add(softmax_layers());
  add(activation_layers());
  add(binary_layers());
  add(unary_layers());
  add(reduce_layers());
  add(axis_layers());
  return layers;
}

}  // namespace

const LayerTable& all_layers() {
  static const LayerTable table(collect());
  return table;
}

}  // namespace espalier
