#include "layers/layer_list.hpp"

#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

std::vector<Layer> collect() {
  std::vector<Layer> layers;
  const auto add = [&](std::span<const Layer> family) {
    layers.insert(layers.end(), family.begin(), family.end());
  };
  add(movement_layers());
  return layers;
}

}  // namespace

const LayerTable& all_layers() {
  static const LayerTable table(collect());
  return table;
}

}  // namespace espalier
