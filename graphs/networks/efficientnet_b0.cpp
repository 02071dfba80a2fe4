#include <algorithm>
#include <fmt/format.h>

#include "graphs/networks/efficientnet_stages.hpp"
#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {
namespace {

constexpr double kEpsilon = 1e-5;

ValueId conv_bn(NetworkBuilder& b, ValueId x, const std::string& prefix, const ConvSpec& spec,
                double gain = 1) {
  return b.batch_norm(b.conv(x, prefix + ".0", spec), prefix + ".1", kEpsilon, gain);
}

/// Squeeze and excitation: channels scaled by a gate computed from their means.
ValueId excite(NetworkBuilder& b, ValueId x, const std::string& prefix, std::int64_t squeezed) {
  ValueId gate = b.global_average_pool(x);
  gate = b.silu(b.conv(gate, prefix + ".fc1", {.out = squeezed, .bias = true}));
  gate = b.sigmoid(b.conv(gate, prefix + ".fc2", {.out = b.channels(x), .bias = true}));
  return b.mul(x, gate);
}

ValueId block(NetworkBuilder& b, ValueId x, const std::string& prefix, const EfficientNetStage& s,
              std::int64_t stride) {
  const std::int64_t in = b.channels(x), hidden = in * s.expand;
  const bool residual = stride == 1 && in == s.out;
  int index = 0;
  const auto at = [&] { return fmt::format("{}block.{}", prefix, index++); };
  ValueId y = x;
  if (s.expand != 1) y = b.silu(conv_bn(b, y, at(), {.out = hidden}));
  const ConvSpec depthwise{
      .out = hidden, .kernel = s.kernel, .stride = stride, .pad = s.kernel / 2, .groups = hidden};
  y = b.silu(conv_bn(b, y, at(), depthwise));
  y = excite(b, y, at(), std::max<std::int64_t>(1, in / 4));
  y = conv_bn(b, y, at(), {.out = s.out, .gain = 2}, residual ? 0.5 : 1);  // made-up gates halve
  return residual ? b.add(y, x) : y;
}

}  // namespace

Graph build_efficientnet_b0(ParameterSource& parameters) {
  NetworkBuilder b("efficientnet_b0", parameters);
  ValueId x = b.image(224);
  x = b.silu(conv_bn(b, x, "features.0", {.out = 32, .kernel = 3, .stride = 2, .pad = 1}));
  for (std::size_t stage = 0; stage < kEfficientNetB0.size(); ++stage)
    for (std::int64_t i = 0; i < kEfficientNetB0[stage].repeats; ++i)
      x = block(b, x, fmt::format("features.{}.{}.", stage + 1, i), kEfficientNetB0[stage],
                i == 0 ? kEfficientNetB0[stage].stride : 1);
  x = b.silu(conv_bn(b, x, "features.8", {.out = 1280}));
  return b.finish(b.classifier(b.flatten_pooled(b.global_average_pool(x)), "classifier.1"));
}

}  // namespace espalier
