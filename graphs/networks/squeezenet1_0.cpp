#include <fmt/format.h>

#include "graphs/networks/network_builder.hpp"
#include "graphs/networks/networks.hpp"

namespace espalier {

/// Iandola et al. 2016, arXiv:1602.07360, table 1.
Graph build_squeezenet1_0(ParameterSource& parameters) {
  struct Fire {
    int index;
    std::int64_t squeeze, expand;
  };
  NetworkBuilder b("squeezenet1_0", parameters);
  const PoolSpec pool{.kernel = 3, .stride = 2, .ceil = true};
  ValueId x = b.image(224);
  x = b.relu(b.conv(x, "features.0", {.out = 96, .kernel = 7, .stride = 2, .bias = true}));
  x = b.max_pool(x, pool);
  for (const Fire& f : {Fire{3, 16, 64}, Fire{4, 16, 64}, Fire{5, 32, 128}, Fire{7, 32, 128},
                        Fire{8, 48, 192}, Fire{9, 48, 192}, Fire{10, 64, 256}, Fire{12, 64, 256}}) {
    if (f.index == 7 || f.index == 12) x = b.max_pool(x, pool);
    const std::string prefix = fmt::format("features.{}.", f.index);
    const ValueId s = b.relu(b.conv(x, prefix + "squeeze", {.out = f.squeeze, .bias = true}));
    const ValueId one = b.relu(b.conv(s, prefix + "expand1x1", {.out = f.expand, .bias = true}));
    const ValueId three =
        b.relu(b.conv(s, prefix + "expand3x3", {.out = f.expand, .kernel = 3, .pad = 1, .bias = true}));
    x = b.concat({one, three});
  }
  const std::int64_t classes = parameters.classes("classifier.1.weight");
  x = b.relu(b.conv(x, "classifier.1", {.out = classes > 0 ? classes : 1000, .bias = true}));
  return b.finish(b.flatten_pooled(b.global_average_pool(x)));
}

}  // namespace espalier
