#pragma once

#include <Eigen/Dense>
#include <functional>

namespace espalier::fitted {

/// A function to make small: its value at a point; fills the gradient. May be infinite.
using Objective = std::function<double(const Eigen::VectorXd& point, Eigen::VectorXd& gradient)>;

/// Limited-memory BFGS (Nocedal & Wright 2006, algorithm 7.4; ten pairs) with a backtracking search (Armijo).
/// Stops after `iterations`, or when a step no longer helps. Never returns a point worse than the start.
Eigen::VectorXd minimise(const Objective& f, Eigen::VectorXd start, int iterations);

}  // namespace espalier::fitted
