#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"
#include "runtime/task_graph/micro_batches.hpp"
#include "runtime/task_graph/network_program.hpp"

namespace espalier {

struct LoweringOptions {
  std::uint32_t slots = 4;       ///< micro-batches in flight
  std::uint32_t workers = 2;     ///< that tasks should be enough for
  double target_seconds = 1e-3;  ///< a task should take about this long
  bool bands = true;  ///< split within a sample where there are fewer micro-batches in flight than workers
  /// Peak of one worker for the estimate of a node's time where nothing was measured.
  double flops_per_second = 50e9, bytes_per_second = 10e9;
  /// Measured seconds a sample by node name; wins over the estimate.
  std::map<std::string, double> node_seconds;
};

/// Cuts every variant into segments, plans their memory and unrolls the micro-batches into a TaskGraph whose
/// tasks are in submission order (micro-batch by micro-batch; earlier ones have the greater priority).
/// InternalError when a graph is not bound. O(n log n + s^2 / 64) for n nodes in s segments.
NetworkProgram lower(const MicroBatches& cut, const LayerTable& layers, const LoweringOptions& options = {});

/// One bound graph as one micro-batch.
NetworkProgram lower(Graph bound, const LayerTable& layers, const LoweringOptions& options = {});

}  // namespace espalier
