#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/images/preprocess.hpp"
#include "graphs/ir/layer.hpp"
#include "graphs/networks/network_list.hpp"

/// The one place that tells what the command line's GRAPH is.
namespace espalier {

enum class GraphKind {
  network,     ///< the name of a network
  onnx,        ///< an ONNX file
  task_graph,  ///< a file of tasks, or a generator (cholesky:20): it has no tensors
};

/// InputError when it is none, listing what would be accepted.
GraphKind kind_of_graph(std::string_view graph);

/// Where a named network's parameters come from: a file, else random values of a seed, else zeros that take
/// no memory (enough for shapes, costs and schedules).
struct ParameterChoice {
  std::string weights;  ///< path; empty: none
  std::optional<std::uint64_t> seed;
};

/// A network before binding.
struct NetworkSource {
  std::string name;
  Graph graph;
  /// The entry that was built; nullptr for a file. efficientnet_lite0 with TensorFlow's weights is
  /// tf_efficientnet_lite0.
  const NetworkEntry* network = nullptr;
  std::vector<std::string> warnings;  ///< parameters of the file that nothing uses
};

/// Builds a named network or imports an ONNX file. InputError for a task graph, for weights beside an ONNX
/// file, and whatever reading and building refuse.
NetworkSource load_network(std::string_view graph, const LayerTable& layers,
                           const ParameterChoice& choice = {});

/// The tensor for the network's input `name`: images [N, 3, H, W] in PyTorch's order are turned where the
/// network reads [N, H, W, 3]; every other tensor is given back as it is.
Tensor image_in_order(const Graph& network, std::string_view name, Tensor tensor);

/// How photographs are prepared for a network's published weights. InputError when it reads no image.
Preprocessing preprocessing_of(const NetworkEntry& network);

}  // namespace espalier
