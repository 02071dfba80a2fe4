#pragma once

#include <functional>

#include "experiments/run/local_problem.hpp"
#include "runtime/model/simulate.hpp"

namespace espalier {

using SimulatedRun = std::function<Trace(const SchedulingProblem&, const SimulationOptions&)>;

/// The makespan to expect of a real run: the median over simulated runs whose task times vary as measured (a
/// makespan is the greatest of sums of varying times, so more than the simulation of the means), and the time
/// before the first and after the last task. A function of the problem and its seed.
double predicted_makespan(const LocalProblem& local, const SimulatedRun& simulated);

}  // namespace espalier
