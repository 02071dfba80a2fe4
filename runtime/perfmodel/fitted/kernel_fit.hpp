#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/perfmodel/fitted/measurements.hpp"

namespace espalier::fitted {

/// A regression of one kernel's times over all devices: README.md has the formulas. Immutable; copies share.
class KernelFit {
 public:
  /// Fits the hyper-parameters to the times and keeps the weights. InputError when fewer than 3 problems are
  /// there. Deterministic. O(members x iterations x patterns x problems^3).
  static KernelFit train(const KernelTimes& times, int iterations = 30);

  KernelKind kind() const;
  const std::vector<std::string>& devices() const;
  std::optional<std::size_t> device_index(std::string_view device) const;
  /// Natural logarithm of the seconds that a call takes on devices()[device].
  double log_seconds(const Problem& problem, std::size_t device) const;
  /// How far the call's feature lies above (> 0) or below (< 0) what was measured, as a difference of natural
  /// logarithms; 0 inside.
  double beyond(const Problem& problem, std::string_view feature) const;

 private:
  friend class ModelJson;
  struct State;
  explicit KernelFit(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

}  // namespace espalier::fitted
