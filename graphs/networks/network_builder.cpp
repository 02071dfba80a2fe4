#include "graphs/networks/network_builder.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>

namespace espalier {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Attributes pool_attributes(const PoolSpec& spec) {
  Attributes attributes;
  attributes.set("kernel_shape", std::vector<std::int64_t>{spec.kernel, spec.kernel});
  attributes.set("strides", std::vector<std::int64_t>{spec.stride, spec.stride});
  attributes.set("pads", std::vector<std::int64_t>(4, spec.pad));
  attributes.set("ceil_mode", std::int64_t{spec.ceil});
  return attributes;
}

}  // namespace

NetworkBuilder::NetworkBuilder(std::string network, ParameterSource& parameters) : parameters_(parameters) {
  graph_.name = std::move(network);
}

ValueId NetworkBuilder::image(std::int64_t size) {
  const ValueId v = graph_.add_value("input", TensorType{DType::f32, Shape{Shape::kDynamic, size, size, 3}});
  graph_.values[static_cast<std::size_t>(v)].dim_names = {"N", "", "", ""};
  graph_.inputs.push_back(v);
  channels_.resize(graph_.values.size(), 0);
  channels_[static_cast<std::size_t>(v)] = 3;
  return v;
}

ValueId NetworkBuilder::node(const std::string& op, std::string name, std::vector<ValueId> inputs,
                             std::int64_t channels, Attributes attributes) {
  if (name.empty()) name = fmt::format("{}_{}", lower(op), made_up_++);
  const std::string output = name + ".out";
  const ValueId v =
      graph_.add_node(op, std::move(name), std::move(inputs), {output}, std::move(attributes)).outputs[0];
  channels_.resize(graph_.values.size(), 0);
  channels_[static_cast<std::size_t>(v)] = channels;
  return v;
}

ValueId NetworkBuilder::constant(const std::string& name, Tensor tensor) {
  const ValueId v = graph_.add_constant(name, std::move(tensor));
  channels_.resize(graph_.values.size(), 0);
  return v;
}

ValueId NetworkBuilder::parameter(const std::string& name, const Shape& shape, double gain) {
  return constant(name, parameters_.get(name, shape, gain));
}

ValueId NetworkBuilder::conv(ValueId x, const std::string& prefix, const ConvSpec& spec) {
  const std::int64_t kernel_w = spec.kernel_w == 0 ? spec.kernel : spec.kernel_w;
  const std::int64_t pad_w = spec.pad_w < 0 ? spec.pad : spec.pad_w;
  Attributes attributes;
  attributes.set("kernel_shape", std::vector<std::int64_t>{spec.kernel, kernel_w});
  attributes.set("strides", std::vector<std::int64_t>{spec.stride, spec.stride});
  attributes.set("dilations", std::vector<std::int64_t>{1, 1});
  attributes.set("group", spec.groups);
  if (spec.same)
    attributes.set("auto_pad", std::string("SAME_UPPER"));
  else
    attributes.set("pads", std::vector<std::int64_t>{spec.pad, pad_w, spec.pad, pad_w});
  std::vector<ValueId> inputs{
      x, parameter(prefix + ".weight", Shape{spec.out, channels(x) / spec.groups, spec.kernel, kernel_w},
                   spec.gain)};
  if (spec.bias) inputs.push_back(parameter(prefix + ".bias", Shape{spec.out}));
  return node("Conv", prefix, std::move(inputs), spec.out, std::move(attributes));
}

ValueId NetworkBuilder::batch_norm(ValueId x, const std::string& prefix, double epsilon, double gain) {
  Attributes attributes;
  attributes.set("epsilon", epsilon);
  const Shape shape{channels(x)};
  std::vector<ValueId> inputs{x, parameter(prefix + ".weight", shape, gain),
                              parameter(prefix + ".bias", shape), parameter(prefix + ".running_mean", shape),
                              parameter(prefix + ".running_var", shape)};
  return node("BatchNormalization", prefix, std::move(inputs), channels(x), std::move(attributes));
}

ValueId NetworkBuilder::linear(ValueId x, const std::string& prefix, std::int64_t out) {
  Attributes attributes;
  attributes.set("transB", std::int64_t{1});
  std::vector<ValueId> inputs{x, parameter(prefix + ".weight", Shape{out, channels(x)}),
                              parameter(prefix + ".bias", Shape{out})};
  return node("Gemm", prefix, std::move(inputs), out, std::move(attributes));
}

ValueId NetworkBuilder::classifier(ValueId x, const std::string& prefix, std::int64_t classes) {
  const std::int64_t found = parameters_.classes(prefix + ".weight");
  return linear(x, prefix, found > 0 ? found : classes);
}

ValueId NetworkBuilder::relu6(ValueId x) {
  if (zero_ == kAbsent) {
    zero_ = constant("relu6.min", Tensor::scalar(0.0F));
    six_ = constant("relu6.max", Tensor::scalar(6.0F));
  }
  return node("Clip", "", {x, zero_, six_}, channels(x));
}

ValueId NetworkBuilder::max_pool(ValueId x, const PoolSpec& spec) {
  return node("MaxPool", "", {x}, channels(x), pool_attributes(spec));
}

ValueId NetworkBuilder::average_pool(ValueId x, const PoolSpec& spec) {
  Attributes attributes = pool_attributes(spec);
  attributes.set("count_include_pad", std::int64_t{1});
  return node("AveragePool", "", {x}, channels(x), std::move(attributes));
}

ValueId NetworkBuilder::flatten_pooled(ValueId x) {
  Attributes attributes;
  attributes.set("axis", std::int64_t{1});
  return node("Flatten", "", {x}, channels(x), std::move(attributes));
}

ValueId NetworkBuilder::flatten_image(ValueId x, std::int64_t h, std::int64_t w) {
  Attributes order;
  order.set("perm", std::vector<std::int64_t>{0, 3, 1, 2});
  const ValueId planes = node("Transpose", "", {x}, channels(x), std::move(order));
  Attributes attributes;
  attributes.set("axis", std::int64_t{1});
  return node("Flatten", "", {planes}, channels(x) * h * w, std::move(attributes));
}

ValueId NetworkBuilder::concat(const std::vector<ValueId>& parts) {
  Attributes attributes;
  attributes.set("axis", std::int64_t{3});
  std::int64_t sum = 0;
  for (ValueId v : parts) sum += channels(v);
  return node("Concat", "", parts, sum, std::move(attributes));
}

Graph NetworkBuilder::finish(ValueId output) {
  graph_.values[static_cast<std::size_t>(output)].name = "output";
  graph_.outputs = {output};
  graph_.validate();
  return std::move(graph_);
}

}  // namespace espalier
