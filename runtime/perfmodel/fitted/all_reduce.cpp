#include "runtime/perfmodel/fitted/all_reduce.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier::fitted {
namespace {

struct Line {
  double offset, slope;
};

/// Least squares of t = offset + slope S with a weight for each point.
Line weighted_line(const std::vector<AllReduceTime>& times, const std::vector<double>& weights) {
  double w = 0, x = 0, y = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    w += weights[i];
    x += weights[i] * times[i].bytes;
    y += weights[i] * times[i].seconds;
  }
  x /= w;
  y /= w;
  double xx = 0, xy = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    xx += weights[i] * (times[i].bytes - x) * (times[i].bytes - x);
    xy += weights[i] * (times[i].bytes - x) * (times[i].seconds - y);
  }
  const double slope = xx > 0 ? xy / xx : 0;
  return {y - slope * x, slope};
}

}  // namespace

AllReduceFit fit_all_reduce(const AllReduceTimes& times) {
  std::vector<double> weights;
  for (const AllReduceTime& t : times.times) weights.push_back(1 / (t.seconds * t.seconds));
  Line line{};
  for (int round = 0; round < 50; ++round) {
    line = weighted_line(times.times, weights);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const AllReduceTime& t = times.times[i];
      const double error = std::abs(line.offset + line.slope * t.bytes - t.seconds) / t.seconds;
      weights[i] = 1 / (t.seconds * t.seconds * std::max(error, 1e-4));
    }
  }
  if (!(line.slope > 0) || !std::isfinite(line.slope) || !std::isfinite(line.offset))
    throw InputError(
        fmt::format("{}: the times do not grow with the size, so no bandwidth can be fitted; at "
                    "least two sizes are needed",
                    times.system));
  const double passes = 2 * (times.devices - 1.0) / times.devices;
  return {times.system, times.devices, std::max(0.0, line.offset), passes / line.slope};
}

std::vector<double> cross_validate(const AllReduceTimes& times, int folds) {
  const std::size_t n = times.times.size();
  if (n < 3)
    throw InputError(fmt::format("{}: {} sizes; a cross-validation needs at least 3", times.system, n));
  const std::size_t k = folds <= 0 ? n : std::min<std::size_t>(static_cast<std::size_t>(folds), n);
  std::vector<double> errors;
  for (std::size_t fold = 0; fold < k; ++fold) {
    AllReduceTimes training{times.system, times.devices, {}};
    for (std::size_t i = 0; i < n; ++i)
      if (i % k != fold) training.times.push_back(times.times[i]);
    const AllReduceFit fit = fit_all_reduce(training);
    for (std::size_t i = fold; i < n; i += k)
      errors.push_back(fit.seconds(times.times[i].bytes) / times.times[i].seconds - 1);
  }
  return errors;
}

AllReduceFit for_devices(const AllReduceFit& fit, int devices) {
  AllReduceFit out = fit;
  out.devices = devices;
  out.latency = fit.latency * (devices - 1.0) / (fit.devices - 1.0);
  return out;
}

}  // namespace espalier::fitted
