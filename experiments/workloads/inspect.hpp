#pragma once

#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// A machine as the roofline sees it: time = max(flops / peak, bytes / bandwidth). Williams, Waterman and
/// Patterson, "Roofline", CACM 2009.
struct Roofline {
  double peak_flops = 80e9;  ///< flop/s; 80e9: a core of 2.5 GHz with two 8-wide fused multiply-adds
  double bandwidth = 10e9;   ///< byte/s
};

struct OperatorFacts {
  std::string name;
  std::string op;  ///< with its fused operations: "Conv+Add+Relu"
  std::vector<TensorType> inputs;
  std::vector<TensorType> outputs;
  std::int64_t parameters = 0;  ///< trained values: constants of floats, each counted once
  Flops flops;
  Bytes bytes;           ///< read and written
  double intensity = 0;  ///< flop / byte
  Seconds time;          ///< by the roofline
  double share = 0;      ///< of the sum of all times
  bool compute_bound = false;
  bool bottleneck = false;  ///< one of the slowest operators that take half the time together
};

struct GraphFacts {
  std::vector<OperatorFacts> operators;  ///< in the graph's order
  std::int64_t parameters = 0;
  Bytes parameter_bytes;
  Flops flops;
  Bytes bytes;
  Seconds time;
};

/// Facts of a bound graph.
GraphFacts inspect_graph(const Graph& graph, const LayerTable& layers, const Roofline& roofline);

}  // namespace espalier
