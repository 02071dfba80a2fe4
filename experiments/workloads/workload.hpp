#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "experiments/workloads/cost_choice.hpp"
#include "runtime/perfmodel/cost_table.hpp"
#include "runtime/task_graph/task_graph.hpp"

namespace espalier {

/// Samples of a batch; task graphs of larger ones say nothing new.
constexpr std::int64_t kLargestBatch = 1'000'000;

/// How a GRAPH of the command line becomes tasks.
struct WorkloadOptions {
  std::optional<bool> training;    ///< not set: profiles with backward times train, networks infer
  std::int64_t batch = 0;          ///< samples of one execution; 0: the network's 1
  std::int64_t micro_batches = 1;  ///< the batch is cut into; profiles pass that often
  int replicas = 0;                ///< copies of the gradients, see NetworkTaskOptions
  int split = 1;                   ///< parts of the output channels of convolutions and dense layers
  std::string costs;               ///< see cost_choice.hpp
  bool all_reduce = false;         ///< gradients by collectives, see NetworkTaskOptions
};

/// A task graph with what is known of its costs.
struct Workload {
  TaskGraph graph;
  std::vector<std::shared_ptr<const CostModel>> models;  ///< asked in order
  CostChoice choice;

  /// InputError for a task that nothing has a cost for, and as CostChoice::require says.
  CostTable costs(const Platform& platform) const;
};

/// A task-graph file, a generator, a network's name or an ONNX file. InputError as the readers say.
Workload load_workload(const std::string& graph, const WorkloadOptions& options = {});

}  // namespace espalier
