#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"

/// The convolutions of well-known networks in the order in which they run, for benchmarks.
namespace espalier {

struct ConvCase {
  std::string name;
  std::int64_t extent = 0;  ///< input height = width
  std::int64_t channels = 0, filters = 0, kernel = 1, stride = 1, groups = 1;
  std::string activation;  ///< ONNX name, or empty
  bool residual = false;   ///< an Add of the output's shape in front of the activation
};

/// ResNet-50 (stride in the 3x3), MobileNetV2 and EfficientNet-B0 at 224 x 224; batch-norm folded.
std::vector<ConvCase> resnet50_convs();
std::vector<ConvCase> mobilenet_v2_convs();
std::vector<ConvCase> efficientnet_b0_convs();

/// A graph of this convolution alone, with types inferred: inputs x and, with a residual, r; random weights.
Graph conv_case_graph(const ConvCase& c, std::int64_t batch);

}  // namespace espalier
