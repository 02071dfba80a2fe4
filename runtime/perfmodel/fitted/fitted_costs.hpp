#pragma once

#include <memory>
#include <span>

#include "runtime/perfmodel/cost_table.hpp"
#include "runtime/perfmodel/fitted/device_match.hpp"
#include "runtime/perfmodel/fitted/fitted_model.hpp"

namespace espalier::fitted {

/// Costs of a network's tasks on devices that were measured elsewhere: README.md tells which tasks, and what
/// the rest is charged with.
class FittedCosts final : public CostModel {
 public:
  explicit FittedCosts(std::shared_ptr<const FittedModel> model);
  /// Source fitted; extrapolated for calls beyond what was measured, sums that stand for a call, and scaled
  /// devices. nullopt for a kind that no device matches, and for tasks bound by arithmetic that no kernel
  /// describes. InputError as match_device says.
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override;
  /// Whether the kind has a device's costs.
  bool serves(const DeviceKind& kind) const { return match_device(kind, devices_).has_value(); }
  const std::vector<std::string>& devices() const { return devices_; }

 private:
  std::optional<Estimate> of_bandwidth(const CostClassInfo& what, const DeviceKind& kind,
                                       const DeviceMatch& match) const;
  std::shared_ptr<const FittedModel> model_;
  std::vector<std::string> devices_;
};

/// A model file compiled into the library, from runtime/perfmodel/models/.
struct ShippedModel {
  std::string_view name, json;
};
std::span<const ShippedModel> shipped_models();
/// All of them as one; read once.
std::shared_ptr<const FittedModel> shipped_model();

}  // namespace espalier::fitted
