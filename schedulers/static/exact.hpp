#pragma once

#include <memory>

#include "runtime/plan/plan.hpp"

namespace espalier {

/// Branch and bound for small graphs (up to 128 tasks and 16 workers): proves optimality in the model of
/// schedulers/common/instance.hpp, or gives a lower bound at the time limit. Larger problems get the local
/// search's plan with the bounds. schedulers/static/exact/README.md.
std::unique_ptr<StaticScheduler> make_exact();

}  // namespace espalier
