#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/plan.hpp"

/// Plans as JSON, version 1 (README.md has the fields). The same file runs on every engine.
namespace espalier {

/// What a plan file says of its graph and platform, so that a mismatch can be told in words.
struct PlanTarget {
  std::string graph_name, platform_name;
  std::size_t tasks = 0, edges = 0, data = 0;
  std::vector<std::string> workers;
  std::vector<std::string> memories;
};

struct PlanFile {
  Plan plan;
  PlanTarget target;
};

std::string plan_to_json(const Plan& plan, const TaskGraph& graph, const Platform& platform);

/// `name` stands in front of errors. InputError for what is no JSON, no plan, of another version, or out of
/// range.
PlanFile plan_from_json(std::string_view text, const std::string& name);

/// InputError saying which part differs when the plan is for another graph or platform: the number of tasks,
/// dependencies or data, the costs or sizes, a worker, a memory, the links.
void require_target(const PlanFile& file, const TaskGraph& graph, const Platform& platform,
                    const std::string& name);

}  // namespace espalier
