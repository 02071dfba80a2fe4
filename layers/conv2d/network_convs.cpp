#include "layers/conv2d/network_convs.hpp"

#include <cmath>
#include <fmt/format.h>
#include <random>

namespace espalier {
namespace {

/// Appends cases and follows the extent and channels of the activation.
class Builder {
 public:
  explicit Builder(std::string activation) : activation_(std::move(activation)) {}

  void conv(std::int64_t filters, std::int64_t kernel, std::int64_t stride, bool depthwise, bool activated,
            bool residual = false) {
    const std::int64_t groups = depthwise ? channels : 1;
    cases.push_back({fmt::format("{}x{}x{}-{}{}k{}s{}", extent, extent, channels, filters,
                                 depthwise ? "dw" : "", kernel, stride),
                     extent, channels, filters, kernel, stride, groups, activated ? activation_ : "",
                     residual});
    extent = (extent + stride - 1) / stride;
    channels = filters;
  }

  void inverted_residual(std::int64_t expand, std::int64_t filters, std::int64_t kernel,
                         std::int64_t stride) {
    const bool residual = stride == 1 && filters == channels;
    if (expand != 1) conv(channels * expand, 1, 1, false, true);
    conv(channels, kernel, stride, true, true);
    conv(filters, 1, 1, false, false, residual);
  }

  std::vector<ConvCase> cases;
  std::int64_t extent = 224, channels = 3;

 private:
  std::string activation_;
};

struct Stage {
  std::int64_t expand, filters, repeats, stride, kernel;
};

std::vector<ConvCase> mobile(const char* activation, const std::vector<Stage>& stages) {
  Builder b(activation);
  b.conv(32, 3, 2, false, true);
  for (const Stage& s : stages)
    for (int i = 0; i < s.repeats; ++i)
      b.inverted_residual(s.expand, s.filters, s.kernel, i == 0 ? s.stride : 1);
  b.conv(1280, 1, 1, false, true);
  return b.cases;
}

}  // namespace

std::vector<ConvCase> resnet50_convs() {
  Builder b("Relu");
  b.conv(64, 7, 2, false, true);
  b.extent = 56;  // after the pool
  const int repeats[] = {3, 4, 6, 3};
  for (int stage = 0; stage < 4; ++stage)
    for (int i = 0; i < repeats[stage]; ++i) {
      const std::int64_t width = std::int64_t{64} << stage, stride = i == 0 && stage > 0 ? 2 : 1;
      const std::int64_t extent = b.extent, channels = b.channels;
      b.conv(width, 1, 1, false, true);
      b.conv(width, 3, stride, false, true);
      b.conv(4 * width, 1, 1, false, true, true);
      if (i != 0) continue;
      Builder shortcut("");
      shortcut.extent = extent;
      shortcut.channels = channels;
      shortcut.conv(4 * width, 1, stride, false, false);
      b.cases.insert(b.cases.end() - 1, shortcut.cases[0]);
    }
  return b.cases;
}

std::vector<ConvCase> mobilenet_v2_convs() {
  return mobile("Clip", {{1, 16, 1, 1, 3},
                         {6, 24, 2, 2, 3},
                         {6, 32, 3, 2, 3},
                         {6, 64, 4, 2, 3},
                         {6, 96, 3, 1, 3},
                         {6, 160, 3, 2, 3},
                         {6, 320, 1, 1, 3}});
}

std::vector<ConvCase> efficientnet_b0_convs() {
  return mobile("Silu", {{1, 16, 1, 1, 3},
                         {6, 24, 2, 2, 3},
                         {6, 40, 2, 2, 5},
                         {6, 80, 3, 2, 3},
                         {6, 112, 3, 1, 5},
                         {6, 192, 4, 2, 5},
                         {6, 320, 1, 1, 3}});
}

Graph conv_case_graph(const ConvCase& c, std::int64_t batch) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(
      0, 1 / std::sqrt(static_cast<float>(c.channels / c.groups * c.kernel * c.kernel)));
  const auto noise = [&](Shape shape) {
    Tensor t(DType::f32, std::move(shape));
    for (float& v : t.as_mutable<float>()) v = normal(random);
    return t;
  };
  Graph g;
  const std::int64_t out = (c.extent + c.stride - 1) / c.stride, pad = c.kernel / 2;
  g.inputs.push_back(g.add_value("x", TensorType{DType::f32, {batch, c.extent, c.extent, c.channels}}));
  const ValueId w = g.add_constant("w", noise({c.filters, c.channels / c.groups, c.kernel, c.kernel}));
  const ValueId b = g.add_constant("b", noise({c.filters}));
  Attributes a;
  a.set("group", c.groups);
  a.set("strides", std::vector<std::int64_t>{c.stride, c.stride});
  a.set("pads", std::vector<std::int64_t>{pad, pad, pad, pad});
  Node& node = g.add_node("Conv", c.name, {g.inputs[0], w, b}, {"y"}, a);
  const ValueId y = node.outputs[0];
  if (c.residual) node.post_ops.push_back({"Add", 0, 0, 3});
  if (!c.activation.empty())
    node.post_ops.push_back({c.activation, 0, c.activation == "Clip" ? 6.0F : 0.0F, -1});
  g.values[y].type = TensorType{DType::f32, {batch, out, out, c.filters}};
  g.outputs.push_back(y);
  if (c.residual) {
    const ValueId r = g.add_value("r", g.values[y].type);
    g.inputs.push_back(r);
    g.nodes[0].inputs.push_back(r);
  }
  return g;
}

}  // namespace espalier
