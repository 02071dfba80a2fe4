#include "schedulers/scheduler_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "runtime/model/simulate.hpp"
#include "schedulers/common/bounds.hpp"
#include "tests/support/scheduling_cases.hpp"

namespace espalier {
namespace {

// Every static scheduler: a valid plan, not below the bounds (validate checks that), the same twice.
TEST(SchedulerList, StaticSchedulersMakeValidPlansOfRandomProblems) {
  for (const SchedulerEntry& entry : all_schedulers()) {
    if (entry.make_static == nullptr) continue;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const std::size_t tasks = 1 + 7 * seed % 40, workers = 1 + seed % 5;
      const auto instance = test::random_case(tasks, workers, 0.15, 1 << (seed % 6), seed);
      SCOPED_TRACE(entry.name);
      SCOPED_TRACE(seed);
      const Plan plan = entry.make_static()->schedule(instance.problem(0.05));
      EXPECT_NO_THROW(validate(plan, instance.problem()));
      EXPECT_EQ(plan.scheduler, entry.name);
    }
  }
}

TEST(SchedulerList, NamesDiffer) {
  for (const SchedulerEntry& a : all_schedulers()) {
    EXPECT_NE(a.make_static == nullptr, a.make_online == nullptr) << a.name;
    EXPECT_EQ(&scheduler_named(a.name), &a);
  }
  EXPECT_THROW(scheduler_named("heft"), InputError);
}

TEST(SchedulerList, HybridsTakeThePlanOfAnyStaticScheduler) {
  const auto c = test::random_case(20, 3, 0.2, 8, 1);
  const SchedulerEntry& entry = scheduler_named("hybrid_both:peft_arabnejad2014");
  EXPECT_EQ(entry.name, "hybrid_both:peft_arabnejad2014");
  EXPECT_EQ(&scheduler_named("hybrid_both:peft_arabnejad2014"), &entry);
  EXPECT_EQ(simulate(c.problem(), *entry.make_online()).tasks.size(), 20U);
  for (const char* wrong : {"hybrid_both:dmdas", "hybrid_both:", "hybrid_both:x", "hybrid_x:best",
                            "hybrid_both:hybrid_both:best"})
    EXPECT_THROW(scheduler_named(wrong), InputError) << wrong;
}

}  // namespace
}  // namespace espalier
