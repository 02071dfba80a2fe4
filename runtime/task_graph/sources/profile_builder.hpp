#pragma once

#include <string>
#include <vector>

#include "runtime/task_graph/sources/weighted_dag.hpp"

namespace espalier::source {

/// A network as profiles describe it: layers with times, the data between them and their parameters.
struct LayerProfile {
  std::string name;
  std::string operation;                ///< codelet without "_forward", "_backward"
  GivenCosts::Times forward, backward;  ///< seconds
  std::int64_t parameter_bytes = 0;
  bool has_backward = false;
};
struct NetworkProfile {
  std::string name;
  CostBasis basis{CostSource::given, {}};  ///< of the times
  std::vector<LayerProfile> layers;
  std::vector<Edge> edges;                 ///< producer, consumer
  std::vector<std::int64_t> output_bytes;  ///< by edge; edges of one producer and size share a datum
};

/// For each micro-batch the forward tasks in topological order, then the backward tasks in reverse order: a
/// layer's forward reads its parameters and its inputs and writes its outputs; its backward reads these and
/// the gradients of its outputs, writes the gradients of its inputs and adds to the gradient of its
/// parameters.
LoadedTaskGraph to_task_graph(const NetworkProfile& profile, const TaskGraphOptions& options);

}  // namespace espalier::source
