#include "layers/pool/pool_layers.hpp"

#include "layers/pool/pool_direct.hpp"
#include "layers/pool/pool_global.hpp"
#include "layers/pool/pool_reference.hpp"
#include "layers/pool/pool_shape.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer(const NodeView& view) {
  const PoolShape s = pool_shape(view);
  const Shape y = window_output(s.window, s.batch, s.channels);
  std::vector<TensorType> types{{view.inputs[0]->dtype, y}};
  if (view.op() == "MaxPool" && view.node.outputs.size() > 1) types.push_back({DType::i64, y});
  return types;
}

/// One operation a window point.
LayerCost cost(const NodeView& view) {
  const PoolShape s = pool_shape(view);
  LayerCost c{};
  c.flops = Flops(double(s.batch) * double(s.channels) * double(s.window.out_points()) *
                  double(s.window.kernel_points()));
  c.bytes_read = Bytes(view.inputs[0]->bytes());
  for (const TensorType& t : infer(view)) c.bytes_written += Bytes(t.bytes());
  return c;
}

constexpr Implementation kPool[] = {
    {"points", pool_global_refuses, prepare_pool_global},
    {"direct", pool_direct_refuses, prepare_pool_direct},
    {"reference", pool_reference_refuses, prepare_pool_reference},
};

Layer pool(std::string_view op, std::string_view summary, int outputs = 1) {
  Layer layer;
  layer.op = op;
  layer.summary = summary;
  layer.max_outputs = outputs;
  layer.layout = LayoutRule::channels_last;
  layer.infer = infer;
  layer.cost = cost;
  layer.implementations = kPool;
  return layer;
}

}  // namespace

std::span<const Layer> pool_layers() {
  static const Layer layers[] = {
      pool("MaxPool", "maximum over a sliding window, with the index where it was found", 2),
      pool("AveragePool", "mean over a sliding window"),
      pool("LpPool", "p-norm over a sliding window"),
      pool("GlobalMaxPool", "maximum over all spatial points"),
      pool("GlobalAveragePool", "mean over all spatial points"),
      pool("GlobalLpPool", "p-norm over all spatial points"),
  };
  return layers;
}

}  // namespace espalier
