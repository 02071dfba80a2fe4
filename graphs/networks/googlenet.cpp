#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {
namespace {

ValueId unit(NetworkBuilder& b, ValueId x, const std::string& prefix, const ConvSpec& spec) {
  return b.relu(b.batch_norm(b.conv(x, prefix + ".conv", spec), prefix + ".bn", 1e-3));
}

/// Widths of a module's branches, in the order of the paper's table 1.
struct Module {
  const char* name;
  std::int64_t one, three_reduce, three, five_reduce, five, pool;
};

ValueId inception(NetworkBuilder& b, ValueId x, const Module& m) {
  const std::string p = std::string(m.name) + ".";
  const ValueId one = unit(b, x, p + "branch1", {.out = m.one});
  ValueId three = unit(b, x, p + "branch2.0", {.out = m.three_reduce});
  three = unit(b, three, p + "branch2.1", {.out = m.three, .kernel = 3, .pad = 1});
  // torchvision's weights have 3x3 kernels where the paper has 5x5
  ValueId five = unit(b, x, p + "branch3.0", {.out = m.five_reduce});
  five = unit(b, five, p + "branch3.1", {.out = m.five, .kernel = 3, .pad = 1});
  const ValueId pooled = b.max_pool(x, {.kernel = 3, .stride = 1, .pad = 1, .ceil = true});
  const ValueId pool = unit(b, pooled, p + "branch4.1", {.out = m.pool});
  return b.concat({one, three, five, pool});
}

}  // namespace

/// Szegedy et al. 2015, arXiv:1409.4842, table 1, with batch normalisation, without the auxiliary
/// classifiers.
Graph build_googlenet(ParameterSource& parameters) {
  parameters.ignore("aux1.");
  parameters.ignore("aux2.");
  NetworkBuilder b("googlenet", parameters);
  const PoolSpec pool{.kernel = 3, .stride = 2, .ceil = true};
  ValueId x = b.image(224);
  x = b.max_pool(unit(b, x, "conv1", {.out = 64, .kernel = 7, .stride = 2, .pad = 3}), pool);
  x = unit(b, x, "conv2", {.out = 64});
  x = b.max_pool(unit(b, x, "conv3", {.out = 192, .kernel = 3, .pad = 1}), pool);
  x = inception(b, x, {"inception3a", 64, 96, 128, 16, 32, 32});
  x = inception(b, x, {"inception3b", 128, 128, 192, 32, 96, 64});
  x = b.max_pool(x, pool);
  x = inception(b, x, {"inception4a", 192, 96, 208, 16, 48, 64});
  x = inception(b, x, {"inception4b", 160, 112, 224, 24, 64, 64});
  x = inception(b, x, {"inception4c", 128, 128, 256, 24, 64, 64});
  x = inception(b, x, {"inception4d", 112, 144, 288, 32, 64, 64});
  x = inception(b, x, {"inception4e", 256, 160, 320, 32, 128, 128});
  x = b.max_pool(x, {.kernel = 2, .stride = 2, .ceil = true});
  x = inception(b, x, {"inception5a", 256, 160, 320, 32, 128, 128});
  x = inception(b, x, {"inception5b", 384, 192, 384, 48, 128, 128});
  return b.finish(b.classifier(b.flatten_pooled(b.global_average_pool(x)), "fc"));
}

}  // namespace espalier
