#pragma once

#include <string>
#include <vector>

#include "experiments/compare/comparison.hpp"

/// Where nothing can run for real: the model engine against simgrid on the same schedules.
namespace espalier {

/// One graph on one platform.
struct EngineAgreement {
  std::string graph, platform, mode;
  std::int64_t batch = 0, micro_batches = 1;
  std::size_t tasks = 0, workers = 0;
  std::vector<EngineDifference> schedules;  ///< of simgrid from the model engine
  std::vector<LeftOut> left_out;
  double median_apart = 0, largest_apart = 0;  ///< |simgrid / model - 1|
  double tau = 0;                              ///< see engine_order_kept; NaN: too few
  double speed = 0;                            ///< median of simgrid's wall time / the model engine's
};

struct EngineAgreements {
  std::vector<EngineAgreement> cases;
  bool interrupted = false;
};

/// Every scheduler on each graph and platform on both engines. Errors as compare().
EngineAgreements compare_engines(ComparisonRequest request, const ComparisonWatcher& watcher = {});

std::string agreements_to_text(const EngineAgreements& agreements);
std::string agreements_to_json(const EngineAgreements& agreements, const ComparisonRequest& request);

}  // namespace espalier
