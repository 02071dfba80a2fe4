#include "runtime/perfmodel/fitted/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "graphs/base/error.hpp"

namespace espalier::fitted {
namespace {

template <class Keep>
ErrorSummary median_where(const KernelEvaluation& e, Keep keep) {
  std::vector<double> errors;
  for (const Prediction& p : e.predictions)
    if (keep(p)) errors.push_back(std::abs(p.error()));
  if (errors.empty()) return {std::numeric_limits<double>::quiet_NaN(), 0};
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  return {0.5 * (errors[(n - 1) / 2] + errors[n / 2]), n};
}

/// A permutation that depends on n alone (a linear congruential generator shuffles).
std::vector<std::size_t> shuffled(std::size_t n) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  std::uint64_t state = 1;
  for (std::size_t i = n; i > 1; --i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    std::swap(order[i - 1], order[(state >> 33) % i]);
  }
  return order;
}

}  // namespace

ErrorSummary median_error(const KernelEvaluation& e, const std::string& device) {
  return median_where(e,
                      [&](const Prediction& p) { return device.empty() || e.devices[p.device] == device; });
}

ErrorSummary median_error_of(const KernelEvaluation& e, bool seen) {
  return median_where(e, [&](const Prediction& p) { return p.seen == seen; });
}

KernelEvaluation cross_validate(const KernelTimes& times, int folds) {
  const std::size_t n = times.problems.size();
  if (folds < 0 || folds == 1) throw InputError(fmt::format("{} folds: 0 or at least 2 are accepted", folds));
  const std::size_t k = folds == 0 ? n : std::min<std::size_t>(static_cast<std::size_t>(folds), n);
  if (n < 4)
    throw InputError(
        fmt::format("{}: {} measured problems; a cross-validation needs at least 4", name_of(times.kind), n));
  KernelEvaluation out{times.kind, times.devices, {}, {}};
  const std::vector<std::size_t> order = shuffled(n);
  for (std::size_t fold = 0; fold < k; ++fold) {
    std::vector<std::size_t> training;
    for (std::size_t i = 0; i < n; ++i)
      if (i % k != fold) training.push_back(order[i]);
    std::sort(training.begin(), training.end());
    const KernelFit fit = KernelFit::train(times.subset(training));
    for (std::size_t i = fold; i < n; i += k)
      for (std::size_t d = 0; d < times.devices.size(); ++d) {
        const double measured = times.at(order[i], d);
        if (std::isnan(measured)) continue;
        const Problem& p = times.problems[order[i]];
        out.predictions.push_back({d, p, std::exp(fit.log_seconds(p, d)), std::exp(measured), false});
      }
  }
  return out;
}

KernelEvaluation evaluate(const KernelTimes& training, const KernelTimes& test) {
  KernelEvaluation out{test.kind, test.devices, {}, {}};
  const KernelFit fit = KernelFit::train(training);
  for (std::size_t d = 0; d < test.devices.size(); ++d) {
    const auto known = fit.device_index(test.devices[d]);
    if (!known) {
      out.unknown_devices.push_back(test.devices[d]);
      continue;
    }
    for (std::size_t p = 0; p < test.problems.size(); ++p) {
      if (std::isnan(test.at(p, d))) continue;
      const Problem& problem = test.problems[p];
      const bool seen = std::binary_search(training.problems.begin(), training.problems.end(), problem);
      out.predictions.push_back(
          {d, problem, std::exp(fit.log_seconds(problem, *known)), std::exp(test.at(p, d)), seen});
    }
  }
  return out;
}

}  // namespace espalier::fitted
