#include <fmt/format.h>

#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {

/// Configuration D of Simonyan and Zisserman 2014, arXiv:1409.1556, table 1.
Graph build_vgg16(ParameterSource& parameters) {
  constexpr int kPool = 0;
  NetworkBuilder b("vgg16", parameters);
  ValueId x = b.image(224);
  int index = 0;  // torchvision numbers convolutions, rectifiers and pools alike
  for (int out :
       {64, 64, kPool, 128, 128, kPool, 256, 256, 256, kPool, 512, 512, 512, kPool, 512, 512, 512, kPool}) {
    if (out == kPool) {
      x = b.max_pool(x, {.kernel = 2, .stride = 2});
      index += 1;
    } else {
      x = b.relu(
          b.conv(x, fmt::format("features.{}", index), {.out = out, .kernel = 3, .pad = 1, .bias = true}));
      index += 2;
    }
  }
  x = b.flatten_image(x, 7, 7);
  x = b.relu(b.linear(x, "classifier.0", 4096));
  x = b.relu(b.linear(x, "classifier.3", 4096));
  return b.finish(b.classifier(x, "classifier.6"));
}

}  // namespace espalier
