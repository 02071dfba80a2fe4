#include <gtest/gtest.h>

#include "schedulers/common/bounds.hpp"
#include "schedulers/scheduler_list.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

double makespan(const test::ProblemCase& instance, const char* scheduler) {
  const Plan plan = scheduler_named(scheduler).make_static()->schedule(instance.problem());
  validate(plan, instance.problem());
  return plan.makespan;
}

// The makespans that the papers print for their worked examples.
TEST(ListSchedulers, HeftGivesThePublishedMakespan) {
  EXPECT_DOUBLE_EQ(makespan(test::topcuoglu_case(), "heft_topcuoglu2002"), 80);
  EXPECT_DOUBLE_EQ(makespan(test::arabnejad_case(), "heft_topcuoglu2002"), 133);
}

TEST(ListSchedulers, CpopGivesThePublishedMakespan) {
  EXPECT_DOUBLE_EQ(makespan(test::topcuoglu_case(), "cpop_topcuoglu2002"), 86);
}

TEST(ListSchedulers, PeftGivesThePublishedMakespan) {
  EXPECT_DOUBLE_EQ(makespan(test::arabnejad_case(), "peft_arabnejad2014"), 122);
}

}  // namespace
}  // namespace espalier
