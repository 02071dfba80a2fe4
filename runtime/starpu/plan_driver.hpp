#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"
#include "runtime/starpu/task_driver.hpp"

namespace espalier::starpu {

/// How much of a plan is binding.
enum class PlanMode {
  strict,      ///< each worker takes its tasks in the plan's order and waits for them
  allocation,  ///< ready tasks queue on their worker, first come, first served; idle workers steal
  order,       ///< one queue for all, in the order of the plan's starts
  both,        ///< queues on the planned worker, in the order of the plan's starts; idle workers steal
};

/// A driver that carries a plan out. Hybrid modes after Agullo, Beaumont, Eyraud-Dubois, Kumar, "Are static
/// schedules so bad?", IPDPS 2016. Strict takes no lock: a slot for each task, and each worker's place in its
/// order. `program` is NetworkProgram's address. InputError when the plan names a worker beyond `workers`, is
/// for another number of tasks, or its order can never be carried out.
std::unique_ptr<TaskDriver> make_plan_driver(const void* program, const TaskGraph& graph, Plan plan,
                                             PlanMode mode, unsigned workers);

}  // namespace espalier::starpu
