#include <array>
#include <fmt/format.h>

#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

/// He et al. 2016, arXiv:1512.03385, table 1. As in torchvision the stride of a bottleneck lies on its 3x3
/// convolution.
namespace espalier {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr double kBranchGain = 0.2;  // a made-up branch adds little to its block's input

class ResNet {
 public:
  ResNet(const char* name, ParameterSource& parameters, bool bottleneck)
      : b_(name, parameters), bottleneck_(bottleneck) {}

  Graph build(const std::array<int, 4>& blocks) {
    ValueId x = b_.image(224);
    x = b_.conv(x, "conv1", {.out = 64, .kernel = 7, .stride = 2, .pad = 3});
    x = b_.relu(b_.batch_norm(x, "bn1", kEpsilon));
    x = b_.max_pool(x, {.kernel = 3, .stride = 2, .pad = 1});
    std::int64_t width = 64;
    for (std::size_t stage = 0; stage < blocks.size(); ++stage, width *= 2)
      for (int i = 0; i < blocks[stage]; ++i)
        x = block(x, fmt::format("layer{}.{}.", stage + 1, i), width, stage > 0 && i == 0 ? 2 : 1);
    x = b_.flatten_pooled(b_.global_average_pool(x));
    return b_.finish(b_.classifier(x, "fc"));
  }

 private:
  ValueId block(ValueId x, const std::string& prefix, std::int64_t width, std::int64_t stride) {
    const std::int64_t out = bottleneck_ ? 4 * width : width;
    ValueId y = x;
    if (bottleneck_) {
      y = b_.relu(norm(b_.conv(y, prefix + "conv1", {.out = width}), prefix + "bn1"));
      y = b_.conv(y, prefix + "conv2", {.out = width, .kernel = 3, .stride = stride, .pad = 1});
      y = b_.relu(norm(y, prefix + "bn2"));
      y = norm(b_.conv(y, prefix + "conv3", {.out = out}), prefix + "bn3", kBranchGain);
    } else {
      y = b_.conv(y, prefix + "conv1", {.out = width, .kernel = 3, .stride = stride, .pad = 1});
      y = b_.relu(norm(y, prefix + "bn1"));
      y = norm(b_.conv(y, prefix + "conv2", {.out = out, .kernel = 3, .pad = 1}), prefix + "bn2",
               kBranchGain);
    }
    if (stride != 1 || b_.channels(x) != out) {
      x = b_.conv(x, prefix + "downsample.0", {.out = out, .stride = stride});
      x = norm(x, prefix + "downsample.1");
    }
    return b_.relu(b_.add(y, x));
  }
  ValueId norm(ValueId x, const std::string& prefix, double gain = 1) {
    return b_.batch_norm(x, prefix, kEpsilon, gain);
  }

  NetworkBuilder b_;
  bool bottleneck_;
};

}  // namespace

Graph build_resnet18(ParameterSource& p) {
  return ResNet("resnet18", p, false).build({2, 2, 2, 2});
}
Graph build_resnet34(ParameterSource& p) {
  return ResNet("resnet34", p, false).build({3, 4, 6, 3});
}
Graph build_resnet50(ParameterSource& p) {
  return ResNet("resnet50", p, true).build({3, 4, 6, 3});
}
Graph build_resnet101(ParameterSource& p) {
  return ResNet("resnet101", p, true).build({3, 4, 23, 3});
}
Graph build_resnet152(ParameterSource& p) {
  return ResNet("resnet152", p, true).build({3, 8, 36, 3});
}

}  // namespace espalier
