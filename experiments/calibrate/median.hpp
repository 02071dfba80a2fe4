#pragma once

#include <vector>

namespace espalier {

struct MedianInterval {
  double median = 0;
  double low = 0, high = 0;  ///< 95 % confidence interval
};

/// From order statistics (binomial, normal approximation: ranks n / 2 -+ 0.98 sqrt n); all 0 without values.
MedianInterval median_interval(std::vector<double> values);

/// Mean of the values with those further than 3 standard deviations (estimated from the median absolute
/// deviation) from the median pulled in to there. Sums of many times follow means, which medians of skewed
/// times underrate; outliers weigh no more than the border. Huber, Annals of Mathematical Statistics 35(1),
/// 1964 (one step). 0 without values.
double robust_mean(std::vector<double> values);

}  // namespace espalier
