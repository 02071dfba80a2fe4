#pragma once

#include "runtime/starpu/starpu_detail.hpp"
#include "runtime/starpu/task_driver.hpp"

namespace espalier::starpu {

/// Espalier's scheduling policy as StarPU's C interface wants it (StarPU Handbook, "How To Define A New
/// Scheduling Policy"). Tasks of the driver's program go through the driver; all others, and all of them
/// without a driver, run first come, first served on any worker that can.
starpu_sched_policy* own_policy();

/// Null: none. Only while no task is in flight. Afterwards no worker uses the driver before.
void set_driver(TaskDriver* driver);
/// Makes every worker look for tasks again.
void wake_workers();

}  // namespace espalier::starpu
