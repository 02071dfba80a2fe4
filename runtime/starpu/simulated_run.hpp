#pragma once

#include <memory>

#include "runtime/simgrid/job.hpp"

namespace espalier::starpu {

/// Runs a job on the machine that StarPU-SimGrid simulates: tasks take the time that the performance models
/// tell, data move over the platform's links, and nothing is computed. Data that the graph reads first lie at
/// home; what is no result is given up after its last task; results are waited
/// for at home. `online` is the policy that decides; null: StarPU's own, or a plan in its order.
/// InputError for a machine larger than the library serves and for a policy that it does not have.
simgrid::Outcome run_simulated(const simgrid::Job& job, std::unique_ptr<OnlinePolicy> online);

}  // namespace espalier::starpu
