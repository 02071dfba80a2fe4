#include <cmath>

#include "runtime/task_graph/sources/source.hpp"

namespace espalier {

std::optional<CostModel::Estimate> GivenCosts::estimate(const CostClassInfo& what,
                                                        const DeviceKind& kind) const {
  const auto found = times_.find(what.footprint);
  if (found == times_.end()) return std::nullopt;
  const Times& t = found->second;
  double time = kind.type == DeviceType::cpu ? t.cpu : t.accelerator;
  if (kind.type == DeviceType::other && std::isnan(time)) time = t.cpu;
  if (std::isnan(time)) return std::nullopt;
  return Estimate{Seconds(time), basis_};
}

}  // namespace espalier
