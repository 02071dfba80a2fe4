#pragma once

#include <string>
#include <vector>

#include "graphs/networks/network_list.hpp"

namespace espalier {

/// A convolution, square unless the `_w` fields differ.
struct ConvSpec {
  std::int64_t out = 0;
  std::int64_t kernel = 1;
  std::int64_t kernel_w = 0;  ///< 0: as kernel
  std::int64_t stride = 1;
  std::int64_t pad = 0;
  std::int64_t pad_w = -1;  ///< -1: as pad
  std::int64_t groups = 1;
  bool bias = false;
  bool same = false;  ///< TensorFlow's SAME padding instead of `pad`
  double gain = 1;    ///< of made-up weights
};

struct PoolSpec {
  std::int64_t kernel = 2;
  std::int64_t stride = 2;
  std::int64_t pad = 0;
  bool ceil = false;
};

/// Appends layers to a channels-last graph, asks the source for their parameters ("PREFIX.weight",
/// "PREFIX.bias", "PREFIX.running_mean", ...) and keeps count of channels.
class NetworkBuilder {
 public:
  NetworkBuilder(std::string network, ParameterSource& parameters);
  /// "input" [N, size, size, 3].
  ValueId image(std::int64_t size);
  ValueId conv(ValueId x, const std::string& prefix, const ConvSpec& spec);
  ValueId batch_norm(ValueId x, const std::string& prefix, double epsilon, double gain = 1);
  /// y = x W' + b over the last axis of [N, in].
  ValueId linear(ValueId x, const std::string& prefix, std::int64_t out);
  /// The final linear layer: as many outputs as the source's weight has rows, else `classes`.
  ValueId classifier(ValueId x, const std::string& prefix, std::int64_t classes = 1000);

  ValueId relu(ValueId x) { return unary("Relu", x); }
  ValueId silu(ValueId x) { return unary("Silu", x); }
  ValueId sigmoid(ValueId x) { return unary("Sigmoid", x); }
  ValueId relu6(ValueId x);
  ValueId max_pool(ValueId x, const PoolSpec& spec);
  ValueId average_pool(ValueId x, const PoolSpec& spec);  ///< padding counts, as in PyTorch
  ValueId global_average_pool(ValueId x) { return unary("GlobalAveragePool", x); }
  ValueId flatten_pooled(ValueId x);  ///< [N, 1, 1, C] to [N, C]
  /// [N, h, w, C] to [N, C h w] in PyTorch's order of elements.
  ValueId flatten_image(ValueId x, std::int64_t h, std::int64_t w);
  ValueId add(ValueId a, ValueId b) { return binary("Add", a, b); }
  ValueId mul(ValueId a, ValueId b) { return binary("Mul", a, b); }
  ValueId concat(const std::vector<ValueId>& parts);

  std::int64_t channels(ValueId v) const { return channels_[static_cast<std::size_t>(v)]; }
  ParameterSource& parameters() { return parameters_; }
  Graph& graph() { return graph_; }
  /// Names the value "output" and hands the graph over.
  Graph finish(ValueId output);

  /// A node with one output of `channels` channels; a name of its own when `name` is empty.
  ValueId node(const std::string& op, std::string name, std::vector<ValueId> inputs, std::int64_t channels,
               Attributes attributes = {});
  ValueId constant(const std::string& name, Tensor tensor);
  ValueId parameter(const std::string& name, const Shape& shape, double gain = 1);

 private:
  ValueId unary(const std::string& op, ValueId x) { return node(op, "", {x}, channels(x)); }
  ValueId binary(const std::string& op, ValueId a, ValueId b) { return node(op, "", {a, b}, channels(a)); }
  Graph graph_;
  ParameterSource& parameters_;
  std::vector<std::int64_t> channels_;
  std::int64_t made_up_ = 0;
  ValueId six_ = kAbsent, zero_ = kAbsent;
};

}  // namespace espalier
