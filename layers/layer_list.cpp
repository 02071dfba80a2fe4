#include "layers/layer_list.hpp"

namespace espalier {
namespace {

std::vector<Layer> collect() {
  std::vector<Layer> layers;
  const auto add = [&](std::span<const Layer> family) {
    layers.insert(layers.end(), family.begin(), family.end());
  };
  static_cast<void>(add);
  return layers;
}

}  // namespace

const LayerTable& all_layers() {
  static const LayerTable table(collect());
  return table;
}

}  // namespace espalier
