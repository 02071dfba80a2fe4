#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "graphs/ir/graph.hpp"
#include "graphs/weights/weights.hpp"

namespace espalier {

/// Where a network's parameters come from; names are torchvision's (timm's for efficientnet_lite0).
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  /// InputError naming the parameter and both shapes when it is missing or shaped otherwise.
  virtual Tensor get(const std::string& parameter, const Shape& shape) = 0;
  /// Classes of the final layer, 0 when the source does not say (then the network's own default).
  virtual std::int64_t classes(const std::string& final_weight) = 0;
};
std::unique_ptr<ParameterSource> parameters_from(Weights weights);
/// Calibrated random values: activations keep their scale through the depth.
std::unique_ptr<ParameterSource> random_parameters(std::uint64_t seed);

/// Builders give channels-last graphs with one input "input" [N, H, W, C] (N symbolic) and one output
/// "output" [N, classes] of logits.
struct NetworkEntry {
  std::string_view name;  ///< "resnet50"
  std::string_view summary;
  std::string_view source;  ///< paper
  std::int64_t image_size;  ///< 224, 299, ...
  Graph (*build)(ParameterSource& parameters);
};
std::span<const NetworkEntry> all_networks();
/// InputError listing the names.
const NetworkEntry& network_named(std::string_view name);

}  // namespace espalier
