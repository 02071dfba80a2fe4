#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace espalier {

/// Seconds as whole steps for exact search: one step is 1 where every value is whole (as in unit-less
/// graphs), up to the rounding of sums of seconds, so that a bound may be rounded up; else so small that sums
/// stay below 2^44 and rounding is far below what a double printed in full shows.
class TimeGrid {
 public:
  using Steps = std::int64_t;
  TimeGrid(std::span<const double> values, double total) {
    bool whole = total < 1e12;
    for (const double v : values) whole = whole && std::abs(v - std::round(v)) <= 1e-9 * std::max(1.0, v);
    if (!whole && total > 0) step_ = total / static_cast<double>(std::int64_t{1} << 40);
  }
  Steps steps(double seconds) const { return std::llround(seconds / step_); }
  double seconds(Steps steps) const { return static_cast<double>(steps) * step_; }

 private:
  double step_ = 1;
};

}  // namespace espalier
