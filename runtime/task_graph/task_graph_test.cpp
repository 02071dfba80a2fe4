#include "runtime/task_graph/task_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(TaskGraph, DependenciesFollowSequentialConsistency) {
  TaskGraphBuilder b;
  const CostClass c = b.add_class({"k", "", Flops(1), Bytes(1), 0});
  const DataId x = b.add_data({Bytes(8)});
  const std::vector<Access> write{{x, AccessMode::write}}, read{{x, AccessMode::read}};
  b.add_task({c}, write);  // 0
  b.add_task({c}, read);   // 1 after 0
  b.add_task({c}, read);   // 2 after 0
  b.add_task({c}, write);  // 3 after 1 and 2
  const TaskGraph g = b.build();
  EXPECT_THAT(g.predecessors(3), ElementsAre(1, 2));
  EXPECT_THAT(g.successors(0), ElementsAre(1, 2));
}

TEST(TaskGraph, SortsExplicitDependenciesAndNamesACycle) {
  TaskGraphBuilder b;
  b.add_class({"k", "", Flops(1), Bytes(1), 0});
  b.add_task({}, {}, "a");
  b.add_task({}, {}, "b");
  b.add_dependency(1, 0);
  const TaskGraph g = b.build();
  EXPECT_EQ(g.task_name(0), "b");

  TaskGraphBuilder bad;
  bad.add_class({"k", "", Flops(1), Bytes(1), 0});
  bad.add_task({}, {}, "a");
  bad.add_task({}, {}, "b");
  bad.add_dependency(1, 0);
  bad.add_dependency(0, 1);
  try {
    bad.build();
    FAIL();
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(), HasSubstr("a -> b"));
  }
}

}  // namespace
}  // namespace espalier
