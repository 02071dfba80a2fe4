#pragma once

namespace espalier {

/// When measuring ends.
struct CalibrationLimits {
  double relative_error = 0.01;  ///< wanted of the sum of all tasks' times
  double max_seconds = 5;
  int min_runs = 5;
};

}  // namespace espalier
