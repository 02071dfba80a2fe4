#pragma once

#include <optional>

#include "experiments/calibrate/cost_cache.hpp"

namespace espalier {

/// What `espalier calibrate` has measured of single kernels, for the cores of the local platform (kind
/// "cpu-core"): the costs of the tasks of network_tasks. A part of a split has its share of the whole's time,
/// marked as extrapolated. The file is read when it is first needed; one that cannot be trusted is named on
/// the error stream, and counts as none.
class CalibratedCosts final : public CostModel {
 public:
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override;
  static bool serves(const DeviceKind& kind) { return kind.name == "cpu-core"; }
  /// Measured costs there are.
  std::size_t size() const { return costs().size(); }

 private:
  const MeasuredCosts& costs() const;
  mutable std::optional<MeasuredCosts> costs_;
};

}  // namespace espalier
