#pragma once

#include <cstdint>
#include <string>

#include "experiments/classify/results.hpp"
#include "experiments/images/preprocess.hpp"
#include "graphs/ir/layer.hpp"

namespace espalier {

/// An image classifier: a network with one image input and one vector of class scores a sample.
struct Classifier {
  std::string name;  ///< the file or the network, for messages
  Graph graph;       ///< not bound; its input is channels-last [N, H, W, 3]
  std::int64_t height = 0, width = 0;
  std::int64_t classes = 0;
  OutputKind kind = OutputKind::logits;
  Preprocessing preprocessing;        ///< what the published weights expect; ImageNet's for a file
  std::vector<std::string> warnings;  ///< parameters of the file that nothing uses
};

/// From an ONNX file. InputError names the file and what does not fit: several inputs, an input that is not
/// float32 [N, 3, H, W] or [N, H, W, 3], extents that are not in the file, an output that is not one vector a
/// sample.
Classifier classifier_from_onnx(const std::string& path, const LayerTable& layers);

/// A network by name with weights from a file.
Classifier classifier_from_network(const std::string& network, const std::string& weights,
                                   const LayerTable& layers);

}  // namespace espalier
