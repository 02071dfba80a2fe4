#include "runtime/plan/plan_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

struct Case {
  LoadedTaskGraph loaded = read_dot("digraph { node [Weight=1]; a; b; a -> b [Weight=2]; }", "two.dot");
  Platform platform = identical_platform(2);
  Plan plan;
  Case() {
    plan.scheduler = "by hand";
    plan.seed = 3;
    plan.makespan = 4;
    plan.placements = {{0, 0, 0, 1}, {1, 0, 3, 4}};
  }
  std::string text() const { return plan_to_json(plan, loaded.graph, platform); }
};

TEST(PlanJson, ComesBackAsItWas) {
  const Case c;
  const PlanFile file = plan_from_json(c.text(), "p.json");
  EXPECT_EQ(file.plan.scheduler, "by hand");
  EXPECT_EQ(file.plan.seed, 3U);
  EXPECT_EQ(file.plan.makespan, 4);
  ASSERT_EQ(file.plan.placements.size(), 2U);
  EXPECT_EQ(file.plan.placements[1].worker, 1);
  EXPECT_EQ(file.plan.placements[1].start, 3);
  EXPECT_EQ(error_of([&] { require_target(file, c.loaded.graph, c.platform, "p.json"); }), "no error");
  EXPECT_EQ(plan_to_json(file.plan, c.loaded.graph, c.platform), c.text());
}

TEST(PlanJson, SaysWhichPartDiffers) {
  const Case c;
  const PlanFile file = plan_from_json(c.text(), "p.json");
  const auto with_graph = [&](const char* dot) {
    return error_of([&] { require_target(file, read_dot(dot, "other.dot").graph, c.platform, "p.json"); });
  };
  EXPECT_THAT(with_graph("digraph { node [Weight=1]; a; b; c; }"),
              HasSubstr("two.dot has 2 tasks, other.dot has 3"));
  EXPECT_THAT(with_graph("digraph { node [Weight=1]; a; b; }"), HasSubstr("dependencies"));
  EXPECT_THAT(with_graph("digraph { node [Weight=5]; a; b; a -> b [Weight=2]; }"),
              HasSubstr("kinds of tasks"));
  const auto with_platform = [&](const char* name) {
    return error_of([&] { require_target(file, c.loaded.graph, platform_named(name), "p.json"); });
  };
  EXPECT_THAT(with_platform("identical:3"), HasSubstr("identical:2 has 2 workers, identical:3 has 3"));
  Platform renamed = c.platform;
  renamed.workers[1].name = "x";
  EXPECT_THAT(error_of([&] { require_target(file, c.loaded.graph, renamed, "p.json"); }),
              HasSubstr("worker 1"));
  Platform faster = c.platform;
  faster.links[0].bandwidth *= 2;
  EXPECT_THAT(error_of([&] { require_target(file, c.loaded.graph, faster, "p.json"); }),
              HasSubstr("links differ"));
}

TEST(PlanJson, RefusesWhatIsNoPlan) {
  const Case c;
  const auto error = [](const std::string& text) {
    return error_of([&] { plan_from_json(text, "p.json"); });
  };
  EXPECT_THAT(error(""), HasSubstr("not a JSON"));
  EXPECT_THAT(error("[]"), HasSubstr("object"));
  EXPECT_THAT(error("{}"), HasSubstr("format"));
  const auto change = [&](const std::string& from, const std::string& to) {
    std::string text = c.text();
    const std::size_t at = text.find(from);
    return at == std::string::npos ? "not found" : error(text.replace(at, from.size(), to));
  };
  EXPECT_THAT(change("\"version\": 1", "\"version\": 9"), HasSubstr("version 9"));
  EXPECT_THAT(change("[1,0,3,4]", "[7,0,3,4]"), HasSubstr("worker"));
  EXPECT_THAT(change("[1,0,3,4]", "[1,0,-3,4]"), HasSubstr(">= 0"));
  EXPECT_THAT(change("[1,0,3,4]", "[1,0]"), HasSubstr("placement of task 1"));
  EXPECT_THAT(change(",\n  [1,0,3,4]", ""), HasSubstr("1 placements for 2 tasks"));
  EXPECT_THAT(change("\"seed\": 3", "\"seed\": \"x\""), HasSubstr("seed"));
}

}  // namespace
}  // namespace espalier
