#pragma once

#include <cstddef>
#include <span>

namespace espalier {

/// A measured value with its 95 % confidence interval.
struct MeasuredValue {
  double value = 0, low = 0, high = 0;
};

/// Whether a prediction puts things into the measured order.
struct RankAgreement {
  double tau = 0;              ///< Kendall's tau-b over all pairs; 1 where fewer than two can be compared
  double tau_told_apart = 0;   ///< (concordant - discordant) / pairs, of the pairs that measuring tells apart
  std::size_t pairs = 0;       ///< whose confidence intervals are disjoint
  std::size_t discordant = 0;  ///< of these, those that the prediction turns round
};

/// Pairs with equal predictions (within `tie`, relative) count as neither. Kendall, "The treatment of ties in
/// ranking problems", Biometrika 33(3), 1945. O(n^2).
RankAgreement rank_agreement(std::span<const MeasuredValue> measured, std::span<const double> predicted,
                             double tie = 1e-9);

}  // namespace espalier
