#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {

/// The one-column variant of Krizhevsky 2014, arXiv:1404.5997, section 5, with torchvision's widths.
Graph build_alexnet(ParameterSource& parameters) {
  NetworkBuilder b("alexnet", parameters);
  const PoolSpec pool{.kernel = 3, .stride = 2};
  ValueId x = b.image(224);
  x = b.relu(b.conv(x, "features.0", {.out = 64, .kernel = 11, .stride = 4, .pad = 2, .bias = true}));
  x = b.max_pool(x, pool);
  x = b.relu(b.conv(x, "features.3", {.out = 192, .kernel = 5, .pad = 2, .bias = true}));
  x = b.max_pool(x, pool);
  x = b.relu(b.conv(x, "features.6", {.out = 384, .kernel = 3, .pad = 1, .bias = true}));
  x = b.relu(b.conv(x, "features.8", {.out = 256, .kernel = 3, .pad = 1, .bias = true}));
  x = b.relu(b.conv(x, "features.10", {.out = 256, .kernel = 3, .pad = 1, .bias = true}));
  x = b.max_pool(x, pool);
  x = b.flatten_image(x, 6, 6);
  x = b.relu(b.linear(x, "classifier.1", 4096));
  x = b.relu(b.linear(x, "classifier.4", 4096));
  return b.finish(b.classifier(x, "classifier.6"));
}

}  // namespace espalier
