#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graphs/ir/graph.hpp"
#include "graphs/weights/weights.hpp"

namespace espalier {

/// Where a network's parameters come from; names are torchvision's (timm's for efficientnet_lite0).
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  /// InputError naming the parameter and both shapes when it is missing or shaped otherwise. A source that
  /// makes values up multiplies their usual scale by `gain`; one that has them disregards it.
  virtual Tensor get(const std::string& parameter, const Shape& shape, double gain = 1) = 0;
  /// Classes of the final layer, 0 when the source does not say (then the network's own default).
  virtual std::int64_t classes(const std::string& final_weight) = 0;
  /// Whether it holds a parameter of this name: tells naming schemes apart. false where values are made up.
  virtual bool has(const std::string& parameter) const {
    static_cast<void>(parameter);
    return false;
  }
  /// Parameters below this prefix belong to parts that inference does not use (auxiliary classifiers).
  virtual void ignore(const std::string& prefix) { static_cast<void>(prefix); }
  /// What it holds that nothing asked for and nobody ignored ("num_batches_tracked" always is), sorted.
  virtual std::vector<std::string> unused() const { return {}; }
};
/// Floats of any width are given as float32.
std::unique_ptr<ParameterSource> parameters_from(Weights weights);
/// Calibrated random values: activations keep their scale through the depth. A parameter's values depend on
/// the seed and its name alone.
std::unique_ptr<ParameterSource> random_parameters(std::uint64_t seed);
/// Zeros that take no memory: for shapes, costs and schedules, where values do not matter.
std::unique_ptr<ParameterSource> placeholder_parameters();

/// Builders give channels-last graphs with one input "input" [N, H, W, C] (N symbolic) and one output
/// "output" [N, classes] of logits. lstm reads "input" [N, T] of int64 and gives "output" [N, T, words].
struct NetworkEntry {
  std::string_view name;  ///< "resnet50"
  std::string_view summary;
  std::string_view source;  ///< paper
  std::int64_t image_size;  ///< 224, 299, ...; 0: no image
  Graph (*build)(ParameterSource& parameters);
  /// Normalisation that the published weights expect: (pixel / 255 - mean) / deviation. googlenet and
  /// inception_v3: torchvision's transform_input turns ImageNet's normalisation into this one inside the
  /// network; here the network has no such step and the image is normalised so at once.
  std::array<double, 3> mean{0.485, 0.456, 0.406};
  std::array<double, 3> deviation{0.229, 0.224, 0.225};
  std::int64_t resize = 256;  ///< shorter side before the centre crop of image_size
  /// Weights with a parameter of this name are those of another entry.
  std::string_view variant_parameter{};
  std::string_view variant{};
};
std::span<const NetworkEntry> all_networks();
/// InputError listing the names.
const NetworkEntry& network_named(std::string_view name);

}  // namespace espalier
