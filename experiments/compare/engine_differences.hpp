#pragma once

#include <string>
#include <vector>

#include "experiments/compare/idle_time.hpp"

namespace espalier {

struct ComparisonCase;
struct ComparisonRow;

/// One scheduler's execution on another engine than the first that was asked for.
struct EngineDifference {
  std::string scheduler, engine, reference;  ///< reference: the first engine
  double makespan = 0, reference_makespan = 0;
  double relative = 0;  ///< makespan / reference_makespan - 1
  /// What the difference is made of, as shares of the reference's makespan that add up to `relative`: the
  /// workers' mean time in computation and in each cause of lost time, here minus there.
  double busy = 0;
  std::array<double, kLostCauses> lost{};
  double bytes = 0, reference_bytes = 0;      ///< moved
  double seconds = 0, reference_seconds = 0;  ///< wall time of the engines, 0: not known
  std::string why;                            ///< the same in words
};

/// For each row of another engine whose scheduler has a row on the first one, in the rows' order.
std::vector<EngineDifference> engine_differences(const ComparisonCase& c);

/// Kendall's tau-b between the engines' orders of the schedulers that both have; 1: the same order. Makespans
/// within a thousandth, and measured ones whose confidence intervals meet, count as equal. nan where an
/// engine tells no two apart.
double engine_order_kept(const ComparisonCase& c, const std::string& engine);

}  // namespace espalier
