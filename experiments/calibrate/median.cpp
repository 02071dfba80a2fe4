#include "experiments/calibrate/median.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

MedianInterval median_interval(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  const double middle = n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
  const double reach = 0.98 * std::sqrt(static_cast<double>(n));
  const double half = static_cast<double>(n) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(half - reach)));
  const auto high = std::min(n - 1, static_cast<std::size_t>(std::ceil(half + reach)));
  return {middle, values[low], values[high]};
}

double robust_mean(std::vector<double> values) {
  if (values.empty()) return 0;
  const double middle = median_interval(values).median;
  std::vector<double> deviations;
  for (const double v : values) deviations.push_back(std::abs(v - middle));
  const double reach = 3 * 1.4826 * median_interval(deviations).median;
  double sum = 0;
  for (const double v : values) sum += std::clamp(v, middle - reach, middle + reach);
  return sum / static_cast<double>(values.size());
}

}  // namespace espalier
