#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "experiments/calibrate/cost_cache.hpp"
#include "experiments/run/prepare_program.hpp"
#include "runtime/starpu/machine.hpp"

namespace espalier {

/// One implementation of one node.
struct KernelTime {
  CostClassInfo node;          ///< codelet and signature as network_tasks writes them
  std::string implementation;  ///< "direct", "winograd", ...
  MeasuredCost cost;
  bool chosen = false;  ///< the one that a run takes
};

struct KernelTimes {
  std::vector<KernelTime> times;
  double seconds = 0;  ///< that measuring took
  bool interrupted = false;
  /// The chosen ones under their own codelet; all under "CODELET@IMPLEMENTATION".
  MeasuredCosts costs() const;
};

/// Times every implementation of every distinct node of the program but the reference (unless there is no
/// other), on all workers at once, each with memory of its own: caches and bandwidth are shared as in a run.
/// Each is run until the confidence interval of the median is within `relative_error`, and for an equal share
/// of `max_seconds` at most (3 runs at least). Nodes that refuse the values drawn for them are left out.
KernelTimes measure_kernels(const PreparedProgram& prepared, const LayerTable& layers,
                            starpu::Machine& machine, const KernelOptions& kernels,
                            const CalibrationLimits& limits, std::uint64_t seed,
                            const std::atomic<bool>* stop);

}  // namespace espalier
