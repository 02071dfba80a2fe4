#include <fmt/format.h>

#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {
namespace {

constexpr double kEpsilon = 1e-5;

ValueId conv_bn(NetworkBuilder& b, ValueId x, const std::string& conv, const std::string& norm,
                const ConvSpec& spec, double gain = 1) {
  return b.batch_norm(b.conv(x, conv, spec), norm, kEpsilon, gain);
}

ValueId inverted_residual(NetworkBuilder& b, ValueId x, const std::string& prefix, std::int64_t expand,
                          std::int64_t out, std::int64_t stride) {
  const std::int64_t in = b.channels(x), hidden = in * expand;
  const bool residual = stride == 1 && in == out;
  int index = 0;
  ValueId y = x;
  const auto unit = [&](const ConvSpec& spec) {
    const std::string at = fmt::format("{}conv.{}", prefix, index++);
    y = b.relu6(conv_bn(b, y, at + ".0", at + ".1", spec));
  };
  if (expand != 1) unit({.out = hidden});
  unit({.out = hidden, .kernel = 3, .stride = stride, .pad = 1, .groups = hidden});
  y = conv_bn(b, y, fmt::format("{}conv.{}", prefix, index), fmt::format("{}conv.{}", prefix, index + 1),
              {.out = out}, residual ? 0.5 : 1);
  return residual ? b.add(x, y) : y;
}

}  // namespace

/// Sandler et al. 2018, arXiv:1801.04381, table 2.
Graph build_mobilenet_v2(ParameterSource& parameters) {
  struct Stage {
    std::int64_t expand, out, repeats, stride;
  };
  NetworkBuilder b("mobilenet_v2", parameters);
  ValueId x = b.image(224);
  x = b.relu6(conv_bn(b, x, "features.0.0", "features.0.1", {.out = 32, .kernel = 3, .stride = 2, .pad = 1}));
  int index = 1;
  for (const Stage& s : {Stage{1, 16, 1, 1}, Stage{6, 24, 2, 2}, Stage{6, 32, 3, 2}, Stage{6, 64, 4, 2},
                         Stage{6, 96, 3, 1}, Stage{6, 160, 3, 2}, Stage{6, 320, 1, 1}})
    for (std::int64_t i = 0; i < s.repeats; ++i)
      x = inverted_residual(b, x, fmt::format("features.{}.", index++), s.expand, s.out,
                            i == 0 ? s.stride : 1);
  x = b.relu6(conv_bn(b, x, "features.18.0", "features.18.1", {.out = 1280}));
  return b.finish(b.classifier(b.flatten_pooled(b.global_average_pool(x)), "classifier.1"));
}

}  // namespace espalier
