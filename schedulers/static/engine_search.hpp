#pragma once

#include "schedulers/static/judge.hpp"

namespace espalier {

/// Local search with the model engine as judge, for platforms where contention or memory decides: from the
/// judge's best plan, tasks move to other workers (those of their neighbours first) and in the order, and
/// each candidate is simulated. Seeded; ends at `bound`, after `steps` or at the time limit.
void search_on_engine(const SchedulingProblem& problem, Judge& judge, double bound, std::int64_t steps,
                      double seconds_limit);

}  // namespace espalier
