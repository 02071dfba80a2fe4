#include "experiments/calibrate/median.hpp"

#include <gtest/gtest.h>

namespace espalier {
namespace {

TEST(Median, OfOddAndEvenNumbersOfValues) {
  EXPECT_DOUBLE_EQ(median_interval({3, 1, 2}).median, 2);
  EXPECT_DOUBLE_EQ(median_interval({4, 1, 2, 3}).median, 2.5);
  EXPECT_DOUBLE_EQ(median_interval({}).median, 0);
}

TEST(Median, IntervalFromOrderStatistics) {
  // 100 values 0..99: ranks 50 -+ 9.8, that is 40 and 60
  std::vector<double> values;
  for (int i = 99; i >= 0; --i) values.push_back(i);
  const MedianInterval m = median_interval(values);
  EXPECT_DOUBLE_EQ(m.low, 40);
  EXPECT_DOUBLE_EQ(m.high, 60);
}

TEST(RobustMean, IsTheMeanWithoutOutliersAndBoundedWithThem) {
  EXPECT_DOUBLE_EQ(robust_mean({1, 2, 3, 6}), 3);
  // median 3, median absolute deviation 1: 1000 counts as 3 + 3 x 1.4826
  EXPECT_NEAR(robust_mean({1, 2, 3, 4, 1000}), (1 + 2 + 3 + 4 + 3 + 3 * 1.4826) / 5, 1e-12);
  EXPECT_DOUBLE_EQ(robust_mean({}), 0);
}

}  // namespace
}  // namespace espalier
