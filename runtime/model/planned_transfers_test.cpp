#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "runtime/model/simulate.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;

/// Task 0 takes 1 on worker 0 and writes 10 bytes, task 1 takes 2 on worker 1 and reads them; 1 byte a
/// second.
class PlannedTransfers : public testing::Test {
 protected:
  Plan plan(double start) const {
    Plan p;
    p.placements = {{0, 0, 0, 1}, {1, 0, 11, 13}};
    p.transfers = {{0, 0, 0, 1, start}};
    return p;
  }
  double makespan(const Plan& p) const { return simulate(case_.problem(), p).makespan; }
  void refuses(Plan p, const char* words) const {
    try {
      makespan(p);
      FAIL() << words;
    } catch (const InputError& e) {
      EXPECT_THAT(e.what(), HasSubstr(words));
    }
  }
  test::ProblemCase case_ = test::unrelated_case({{1, 100}, {100, 2}}, {{0, 1, 10}});
};

// Due at 5: 5 + 10 + 2. Due before task 0 has ended: 1 + 10 + 2.
TEST_F(PlannedTransfers, LeaveWhenDueAndWritten) {
  EXPECT_DOUBLE_EQ(makespan(plan(5)), 17);
  EXPECT_DOUBLE_EQ(makespan(plan(0.5)), 13);
  EXPECT_DOUBLE_EQ(makespan(plan(1)), 13);
}

// From a memory without a copy: it leaves from where one is.
TEST_F(PlannedTransfers, OfUseToNobodyAreDropped) {
  Plan p = plan(1);
  p.transfers.push_back({0, 0, 1, 0, 20});
  EXPECT_DOUBLE_EQ(makespan(p), 13);
}

TEST_F(PlannedTransfers, WhatDoesNotExistIsRefused) {
  Plan p = plan(1);
  p.transfers[0].data = 7;
  refuses(p, "moves datum 7");
  p = plan(1);
  p.transfers[0].to = 0;
  refuses(p, "goes from memory 0 to 0");
  p = plan(1);
  p.transfers[0].after = 1;
  refuses(p, "which does not write it");
  refuses(plan(-1), "a time >= 0");
}

}  // namespace
}  // namespace espalier
