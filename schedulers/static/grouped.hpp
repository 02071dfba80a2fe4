#pragma once

#include "schedulers/static/judge.hpp"

namespace espalier {

/// Plans that keep what belongs together on one worker, for the judge: the workers of one kind are used
/// alone, then 2, 4, ... of them; micro-batches go to them in turn (data parallel), or runs of layers of
/// about equal work do (a pipeline). Tasks without micro-batch or layer, and those that the kind cannot run,
/// go where they end first.
void consider_grouped(const SchedulingProblem& problem, Judge& judge);

}  // namespace espalier
