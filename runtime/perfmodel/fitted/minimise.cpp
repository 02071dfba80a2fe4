#include "runtime/perfmodel/fitted/minimise.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

namespace espalier::fitted {
namespace {

using Eigen::VectorXd;

constexpr std::size_t kPairs = 10;
constexpr double kLongestStep = 2;  // arguments are logarithms: no more than a factor e^2 at once

struct Pair {
  VectorXd s, y;
  double rho;
};

VectorXd direction(const std::deque<Pair>& pairs, const VectorXd& gradient) {
  VectorXd q = gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = pairs[i].rho * pairs[i].s.dot(q);
    q -= alpha[i] * pairs[i].y;
  }
  if (!pairs.empty()) q *= pairs.back().s.dot(pairs.back().y) / pairs.back().y.squaredNorm();
  for (std::size_t i = 0; i < pairs.size(); ++i)
    q += (alpha[i] - pairs[i].rho * pairs[i].y.dot(q)) * pairs[i].s;
  return -q;
}

}  // namespace

VectorXd minimise(const Objective& f, VectorXd start, int iterations) {
  VectorXd point = std::move(start), gradient(point.size());
  double value = f(point, gradient);
  std::deque<Pair> pairs;
  for (int it = 0; it < iterations && std::isfinite(value) && gradient.norm() > 1e-4; ++it) {
    VectorXd step = direction(pairs, gradient);
    if (!(step.dot(gradient) < 0)) {
      pairs.clear();
      step = -gradient;
    }
    if (const double longest = step.cwiseAbs().maxCoeff(); longest > kLongestStep)
      step *= kLongestStep / longest;
    VectorXd next, next_gradient(point.size());
    double next_value = 0, scale = 1;
    int tries = 0;
    for (; tries < 12; ++tries, scale *= 0.4) {
      next = point + scale * step;
      next_value = f(next, next_gradient);
      if (std::isfinite(next_value) && next_value <= value + 1e-4 * scale * step.dot(gradient)) break;
    }
    if (tries == 12) break;
    Pair pair{next - point, next_gradient - gradient, 0};
    if (const double curvature = pair.s.dot(pair.y); curvature > 1e-12) {
      pair.rho = 1 / curvature;
      pairs.push_back(std::move(pair));
      if (pairs.size() > kPairs) pairs.pop_front();
    }
    const double gain = value - next_value;
    point = std::move(next);
    gradient = std::move(next_gradient);
    value = next_value;
    if (gain < 1e-7 * std::max(1.0, std::abs(value))) break;
  }
  return point;
}

}  // namespace espalier::fitted
