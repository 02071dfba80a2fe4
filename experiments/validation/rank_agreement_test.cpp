#include "experiments/validation/rank_agreement.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace espalier {
namespace {

std::vector<MeasuredValue> exactly(std::initializer_list<double> values) {
  std::vector<MeasuredValue> out;
  for (const double v : values) out.push_back({v, v, v});
  return out;
}

TEST(RankAgreement, CountsConcordantAndDiscordantPairs) {
  // 1 2 3 4 against 1 3 2 4: of 6 pairs one is turned round: (5 - 1) / 6
  const std::vector<double> predicted{10, 30, 20, 40};
  const RankAgreement r = rank_agreement(exactly({1, 2, 3, 4}), predicted);
  EXPECT_DOUBLE_EQ(r.tau, 4.0 / 6);
  EXPECT_DOUBLE_EQ(r.tau_told_apart, 4.0 / 6);
  EXPECT_EQ(r.pairs, 6U);
  EXPECT_EQ(r.discordant, 1U);
}

TEST(RankAgreement, EqualPredictionsAreCorrectedFor) {
  // pairs (1,2) (1,3) (2,3); the prediction ties the last: 2 / sqrt(3 * 2)
  const std::vector<double> predicted{1, 5, 5};
  EXPECT_NEAR(rank_agreement(exactly({1, 2, 3}), predicted).tau, 2 / std::sqrt(6.0), 1e-15);
}

TEST(RankAgreement, WhatMeasuringCannotTellApartIsLeftOut) {
  const std::vector<MeasuredValue> measured{{1.00, 0.9, 1.1}, {1.05, 0.95, 1.15}, {2, 1.9, 2.1}};
  const std::vector<double> predicted{1.02, 1.01, 2};
  const RankAgreement r = rank_agreement(measured, predicted);
  EXPECT_EQ(r.pairs, 2U);
  EXPECT_EQ(r.discordant, 0U);
  EXPECT_DOUBLE_EQ(r.tau_told_apart, 1);
  EXPECT_DOUBLE_EQ(r.tau, 1.0 / 3);
}

TEST(RankAgreement, NothingToCompareAgrees) {
  EXPECT_DOUBLE_EQ(rank_agreement({}, {}).tau, 1);
  const std::vector<double> one{1};
  EXPECT_DOUBLE_EQ(rank_agreement(exactly({1}), one).tau_told_apart, 1);
}

}  // namespace
}  // namespace espalier
