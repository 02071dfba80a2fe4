#include "experiments/calibrate/calibrated_costs.hpp"

#include <charconv>
#include <fmt/format.h>

#include "experiments/run/prepare_program.hpp"

namespace espalier {

const MeasuredCosts& CalibratedCosts::costs() const {
  if (!costs_) {
    std::string reason;
    costs_ = load_costs(machine_identity(workers_for(0), false), &reason);
    if (!reason.empty())
      fmt::print(stderr, "espalier: {}; `espalier calibrate` measures them again\n", reason);
  }
  return *costs_;
}

std::optional<CostModel::Estimate> CalibratedCosts::estimate(const CostClassInfo& what,
                                                             const DeviceKind& kind) const {
  if (!serves(kind)) return std::nullopt;
  if (const MeasuredCost* cost = costs().find(what))
    return Estimate{Seconds(cost->seconds),
                    CostBasis{CostSource::measured_here, "calibrated kernels", cost->relative_error}};
  constexpr std::string_view part = " part 1/";
  const std::size_t at = what.signature.rfind(part);
  if (at == std::string::npos) return std::nullopt;
  int parts = 0;
  const char* end = what.signature.data() + what.signature.size();
  const auto [stop, code] = std::from_chars(what.signature.data() + at + part.size(), end, parts);
  if (code != std::errc{} || stop != end || parts < 1) return std::nullopt;
  CostClassInfo whole = what;
  whole.signature.resize(at);
  const MeasuredCost* cost = costs().find(whole);
  if (cost == nullptr) return std::nullopt;
  return Estimate{Seconds(cost->seconds / parts),
                  CostBasis{CostSource::extrapolated, "calibrated kernels, divided by the parts"}};
}

}  // namespace espalier
