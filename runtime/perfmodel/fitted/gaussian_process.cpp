#include "runtime/perfmodel/fitted/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "runtime/perfmodel/fitted/minimise.hpp"

namespace espalier::fitted {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPriorLength = 1, kPriorScale = 0, kPriorNoise = -4;  // natural logarithms
constexpr double kPriorWeight = 0.05;

/// s(r) and ds / d(r^2).
struct Shape {
  double value, slope;
};
Shape shape_at(CovarianceShape shape, double r2) {
  switch (shape) {
    case CovarianceShape::squared_exponential: {
      const double e = std::exp(-0.5 * r2);
      return {e, -0.5 * e};
    }
    case CovarianceShape::matern52: {
      const double a = std::sqrt(5 * r2), e = std::exp(-a);
      return {(1 + a + a * a / 3) * e, -5.0 / 6 * (1 + a) * e};
    }
    case CovarianceShape::matern32:
      break;
  }
  const double a = std::sqrt(3 * r2), e = std::exp(-a);
  return {(1 + a) * e, -1.5 * e};
}

MatrixXd squared_distances(const MatrixXd& x, const MatrixXd& z, const VectorXd& lengths) {
  const MatrixXd a = x * lengths.cwiseInverse().asDiagonal();
  const MatrixXd b = z * lengths.cwiseInverse().asDiagonal();
  MatrixXd d = -2 * a * b.transpose();
  d.colwise() += a.rowwise().squaredNorm();
  d.rowwise() += b.rowwise().squaredNorm().transpose();
  return d.cwiseMax(0);
}

/// Outputs by the points where they are present.
std::map<std::vector<Index>, std::vector<Index>> patterns_of(const MatrixXd& y) {
  std::map<std::vector<Index>, std::vector<Index>> patterns;
  for (Index j = 0; j < y.cols(); ++j) {
    std::vector<Index> present;
    for (Index i = 0; i < y.rows(); ++i)
      if (!std::isnan(y(i, j))) present.push_back(i);
    if (!present.empty()) patterns[present].push_back(j);
  }
  return patterns;
}

VectorXd prior(Index dimensions) {
  VectorXd p = VectorXd::Constant(dimensions + 3, kPriorLength);
  p(dimensions) = p(dimensions + 1) = kPriorScale;
  p(dimensions + 2) = kPriorNoise;
  return p;
}

}  // namespace

MatrixXd Covariance::operator()(const MatrixXd& x, const MatrixXd& z) const {
  MatrixXd k = squared_distances(x, z, lengths);
  for (Index i = 0; i < k.size(); ++i) k.data()[i] = signal * shape_at(shape, k.data()[i]).value;
  k.noalias() += linear / static_cast<double>(x.cols()) * x * z.transpose();
  return k;
}

VectorXd to_parameters(const Covariance& k) {
  const Index d = k.lengths.size();
  VectorXd p(d + 3);
  p.head(d) = k.lengths.array().log();
  p(d) = std::log(k.signal);
  p(d + 1) = std::log(k.linear);
  p(d + 2) = std::log(k.noise);
  return p;
}

Covariance from_parameters(CovarianceShape shape, const VectorXd& p) {
  const Index d = p.size() - 3;
  return {shape, p.head(d).array().exp(), std::exp(p(d)), std::exp(p(d + 1)), std::exp(p(d + 2))};
}

Centred centred(const MatrixXd& y) {
  Centred out{y, VectorXd::Zero(y.cols())};
  for (Index j = 0; j < y.cols(); ++j) {
    double sum = 0, count = 0;
    for (Index i = 0; i < y.rows(); ++i)
      if (!std::isnan(y(i, j))) {
        sum += y(i, j);
        count += 1;
      }
    out.means(j) = count > 0 ? sum / count : 0;
    out.values.col(j).array() -= out.means(j);
  }
  return out;
}

double negative_log_posterior(CovarianceShape shape, const VectorXd& parameters, const MatrixXd& x,
                              const Centred& y, VectorXd& gradient) {
  const Index d = x.cols(), n = x.rows();
  const Covariance k = from_parameters(shape, parameters);
  gradient = VectorXd::Zero(d + 3);
  MatrixXd value = squared_distances(x, x, k.lengths), slope(n, n);
  for (Index i = 0; i < value.size(); ++i) {
    const Shape s = shape_at(shape, value.data()[i]);
    value.data()[i] = s.value;
    slope.data()[i] = s.slope;
  }
  const MatrixXd linear = x * x.transpose() / static_cast<double>(d);
  double total = 0, outputs = 0;
  for (const auto& [rows, columns] : patterns_of(y.values)) {
    const auto m = static_cast<Index>(rows.size());
    const MatrixXd v = value(rows, rows), l = linear(rows, rows);
    MatrixXd a = k.signal * v + k.linear * l;
    a.diagonal().array() += k.noise;
    const Eigen::LLT<MatrixXd> factor(a);
    if (factor.info() != Eigen::Success) return std::numeric_limits<double>::infinity();
    const MatrixXd r = y.values(rows, columns), alpha = factor.solve(r);
    const MatrixXd inverse = factor.solve(MatrixXd::Identity(m, m));
    const auto count = static_cast<double>(columns.size());
    const double log_determinant = factor.matrixLLT().diagonal().array().log().sum();
    total += 0.5 * r.cwiseProduct(alpha).sum() + count * log_determinant;
    outputs += count;
    // d total / d K, Rasmussen & Williams (5.9)
    const MatrixXd w = 0.5 * (count * inverse - alpha * alpha.transpose());
    const MatrixXd by_distance = k.signal * w.cwiseProduct(slope(rows, rows));
    const MatrixXd z = x(rows, Eigen::all);
    const VectorXd row_sums = by_distance.rowwise().sum();
    for (Index i = 0; i < d; ++i) {
      // sum_ab B_ab (z_a - z_b)^2 with B symmetric
      const VectorXd c = z.col(i);
      const double spread = 2 * (row_sums.dot(c.cwiseProduct(c)) - c.dot(by_distance * c));
      gradient(i) += -2 * spread / (k.lengths(i) * k.lengths(i));
    }
    gradient(d) += k.signal * w.cwiseProduct(v).sum();
    gradient(d + 1) += k.linear * w.cwiseProduct(l).sum();
    gradient(d + 2) += k.noise * w.trace();
  }
  if (outputs == 0) outputs = 1;
  const VectorXd away = parameters - prior(d);
  gradient = gradient / outputs + 2 * kPriorWeight * away;
  return total / outputs + kPriorWeight * away.squaredNorm();
}

Covariance fit_covariance(CovarianceShape shape, const MatrixXd& x, const Centred& y, int iterations) {
  const auto objective = [&](const VectorXd& p, VectorXd& gradient) {
    return negative_log_posterior(shape, p, x, y, gradient);
  };
  return from_parameters(shape, minimise(objective, prior(x.cols()), iterations));
}

namespace {

constexpr int kReweightings = 3;
constexpr double kFreedom = 2;
/// The hyper-parameters' noise covers the outliers; that of the other points is less.
constexpr double kCore = 0.5;
constexpr Index kMostReweighted = 1000;

/// Noise of each point, given (K + noise)^-1 and its product with y (leave-one-out: Rasmussen & Williams,
/// 5.12).
VectorXd reweighted(const VectorXd& noise, double base, const MatrixXd& inverse, const VectorXd& weights) {
  const Index n = noise.size();
  VectorXd z(n);
  for (Index i = 0; i < n; ++i) {
    const double variance = 1 / inverse(i, i);  // of the residual, the point's own noise included
    z(i) = std::abs(weights(i)) * variance / std::sqrt(std::max(1e-9, variance - noise(i) + base));
  }
  std::vector<double> sorted(z.begin(), z.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  constexpr double median_of_normal = 0.6745;
  const double unit = std::max(1e-9, *middle / median_of_normal);
  return base * (kFreedom + (z / unit).array().square()) / (kFreedom + 1);
}

VectorXd robust_column(const MatrixXd& k, const VectorXd& y, double base) {
  const Index n = y.size();
  VectorXd noise = VectorXd::Constant(n, base);
  for (int round = 0;; ++round) {
    MatrixXd a = k;
    a.diagonal() += noise;
    const Eigen::LDLT<MatrixXd> factor(a);
    const VectorXd weights = factor.solve(y);
    if (round == kReweightings || n > kMostReweighted) return weights;
    noise = reweighted(noise, base, factor.solve(MatrixXd::Identity(n, n)), weights);
  }
}

}  // namespace

MatrixXd robust_weights(const Covariance& k, const MatrixXd& x, const MatrixXd& y, double noise) {
  MatrixXd weights = MatrixXd::Zero(y.rows(), y.cols());
  const MatrixXd full = k(x, x);
  for (const auto& [rows, columns] : patterns_of(y))
    for (const Index column : columns) {
      const VectorXd values = y(rows, column);
      weights(rows, column) = robust_column(full(rows, rows), values, kCore * noise);
    }
  return weights;
}

}  // namespace espalier::fitted
