#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/plan/plan.hpp"
#include "runtime/trace/trace.hpp"

/// What espalier hands to its child espalier-simgrid and what comes back, as JSON.
namespace espalier::simgrid {

/// Who decides.
struct Decision {
  enum class Kind : std::uint8_t {
    starpu,  ///< a policy of StarPU's own, by name
    online,  ///< a policy of ours, by name
    plan,    ///< a plan: "strict", or as hints "allocation", "order" or "both"
  } kind = Kind::starpu;
  std::string name;
  std::string mode = "strict";
  std::vector<Placement> placements;  ///< of a plan
  /// Tasks without slack, for policies of StarPU's that know two priorities only.
  std::vector<TaskId> critical{};
};

/// Platform, homes and placements are in StarPU's order (starpu_order.hpp).
struct Job {
  TaskGraph graph;
  Platform platform;
  CostTable costs;
  std::vector<std::uint32_t> footprints;  ///< by cost class: keys in the performance models
  unsigned cpus = 0, gpus = 0;
  std::uint64_t seed = 0;
  double time_limit = 1;
  Decision decision;
  SchedulingProblem problem() const { return {graph, platform, costs, seed, Seconds(time_limit)}; }
};

/// As job_from_json reads it; `homes` by datum in StarPU's order.
std::string job_to_json(const SchedulingProblem& problem, const std::vector<MemoryId>& homes,
                        const Job& rest);
/// InputError for what is no job, of another version, or out of range.
Job job_from_json(std::string_view text, const std::string& name);

/// One execution in StarPU's order, or the reason why there is none.
struct Outcome {
  std::string error;  ///< empty: it ran
  bool wrong_input = false;
  std::string starpu_version;
  Trace trace;
};
std::string outcome_to_json(const Outcome& outcome);
/// InternalError for what is no outcome.
Outcome outcome_from_json(std::string_view text, const std::string& name);

/// Footprints of the classes' performance models: theirs folded to 32 bits, all different within a codelet.
std::vector<std::uint32_t> model_footprints(const TaskGraph& graph);

}  // namespace espalier::simgrid
