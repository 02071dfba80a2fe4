#pragma once

#include "runtime/perfmodel/fitted/measurements.hpp"

namespace espalier::fitted {

/// Time of a ring all-reduce of S bytes over n devices: t = latency + 2 (n-1)/n S / bandwidth (Patarasuk &
/// Yuan 2009: every byte but 1/n crosses each device's link twice).
struct AllReduceFit {
  std::string system;
  int devices = 2;
  double latency = 0;    ///< seconds
  double bandwidth = 1;  ///< byte/s
  double seconds(double bytes) const { return latency + 2 * (devices - 1.0) / devices * bytes / bandwidth; }
};

/// Least absolute relative errors by iteratively reweighted least squares: single outliers do not count.
/// InputError when the sizes are all equal or time does not grow with size.
AllReduceFit fit_all_reduce(const AllReduceTimes& times);

/// Relative errors, each size predicted by a fit of the others (0: as many folds as sizes).
std::vector<double> cross_validate(const AllReduceTimes& times, int folds);

/// A fit for another number of devices of the same kind: the bandwidth stays, the latency grows with the
/// 2(n-1) steps of the ring.
AllReduceFit for_devices(const AllReduceFit& fit, int devices);

}  // namespace espalier::fitted
