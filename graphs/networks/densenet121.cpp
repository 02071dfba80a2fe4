#include <array>
#include <fmt/format.h>

#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr std::int64_t kGrowth = 32;

}  // namespace

/// Huang et al. 2017, arXiv:1608.06993, table 1. Checkpoints of before torchvision 0.3 call norm1 "norm.1".
Graph build_densenet121(ParameterSource& parameters) {
  NetworkBuilder b("densenet121", parameters);
  const char* dot = parameters.has("features.denseblock1.denselayer1.norm.1.weight") ? "." : "";
  const auto norm_relu = [&](ValueId x, const std::string& prefix) {
    return b.relu(b.batch_norm(x, prefix, kEpsilon));
  };
  ValueId x = b.image(224);
  x = norm_relu(b.conv(x, "features.conv0", {.out = 64, .kernel = 7, .stride = 2, .pad = 3}),
                "features.norm0");
  x = b.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
  constexpr std::array<int, 4> layers{6, 12, 24, 16};
  for (std::size_t block = 0; block < layers.size(); ++block) {
    for (int i = 1; i <= layers[block]; ++i) {
      const std::string prefix = fmt::format("features.denseblock{}.denselayer{}.", block + 1, i);
      ValueId y = norm_relu(x, fmt::format("{}norm{}1", prefix, dot));
      y = b.conv(y, fmt::format("{}conv{}1", prefix, dot), {.out = 4 * kGrowth});
      y = norm_relu(y, fmt::format("{}norm{}2", prefix, dot));
      y = b.conv(y, fmt::format("{}conv{}2", prefix, dot), {.out = kGrowth, .kernel = 3, .pad = 1});
      x = b.concat({x, y});
    }
    if (block + 1 == layers.size()) break;
    const std::string prefix = fmt::format("features.transition{}.", block + 1);
    x = b.conv(norm_relu(x, prefix + "norm"), prefix + "conv", {.out = b.channels(x) / 2});
    x = b.average_pool(x, {.kernel = 2, .stride = 2});
  }
  x = norm_relu(x, "features.norm5");
  return b.finish(b.classifier(b.flatten_pooled(b.global_average_pool(x)), "classifier"));
}

}  // namespace espalier
