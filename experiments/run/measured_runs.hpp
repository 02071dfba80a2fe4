#pragma once

#include <vector>

#include "runtime/starpu/network_session.hpp"

namespace espalier {

struct MeasuredRun {
  starpu::RunStatistics statistics;
  Trace trace;
};

struct MeasuredRuns {
  std::vector<MeasuredRun> kept;
  int repeated = 0;   ///< measured beside these and passed over
  int disturbed = 0;  ///< of the kept ones: no better ones came within twice as many
  bool interrupted = false;
};

/// Runs `warmup` times, then until `wanted` runs were not disturbed by other programs, at most twice as many.
/// The least disturbed ones stay, in their order. The session records traces.
MeasuredRuns measured_runs(starpu::NetworkSession& session, int warmup, int wanted);

}  // namespace espalier
