#pragma once

#include <Eigen/Dense>
#include <vector>

/// Gaussian-process regression (Rasmussen & Williams 2006, chapters 2 and 5) of several outputs that share
/// their inputs and hyper-parameters; part of the library's inside, since it shows Eigen.
namespace espalier::fitted {

enum class CovarianceShape { squared_exponential, matern52, matern32 };

/// k(x, z) = signal s(r) + linear x.z / d + noise [x = z], r^2 = sum_i ((x_i - z_i) / length_i)^2, where s is
/// exp(-r^2/2), or Matern's function. Inputs are standardised: mean 0, standard deviation 1 over the
/// problems.
struct Covariance {
  CovarianceShape shape = CovarianceShape::matern52;
  Eigen::VectorXd lengths;
  double signal = 1, linear = 1, noise = 0.02;

  /// Without the noise: rows of x against rows of z.
  Eigen::MatrixXd operator()(const Eigen::MatrixXd& x, const Eigen::MatrixXd& z) const;
};

/// log of the lengths, signal, linear, noise.
Eigen::VectorXd to_parameters(const Covariance& k);
Covariance from_parameters(CovarianceShape shape, const Eigen::VectorXd& parameters);

/// Outputs y (points x outputs, NaN where absent), each minus its own mean.
struct Centred {
  Eigen::MatrixXd values;
  Eigen::VectorXd means;  ///< by output
};
Centred centred(const Eigen::MatrixXd& y);

/// Minus the mean over outputs of the log marginal likelihood, plus a weak Gaussian prior on the logarithms
/// (lengths about 3, noise about 0.02), and its gradient. Outputs with the same points share a factorisation:
/// O(patterns n^3 + outputs n^2 + patterns d n^2). Infinite where the matrix is not positive definite.
double negative_log_posterior(CovarianceShape shape, const Eigen::VectorXd& parameters,
                              const Eigen::MatrixXd& x, const Centred& y, Eigen::VectorXd& gradient);

/// Hyper-parameters of the greatest posterior from a fixed start (L-BFGS, at most `iterations`).
Covariance fit_covariance(CovarianceShape shape, const Eigen::MatrixXd& x, const Centred& y,
                          int iterations = 30);

/// (K + noise_i I)^-1 y by output; 0 where y is absent. x-star's mean is k(x-star, x) times this. Outliers
/// count little: the noise is Student's t with two degrees of freedom, by iterative reweighting: a point's
/// noise is `noise` (nu + z^2) / (nu + 1), z being its leave-one-out residual over that residual's standard
/// deviation, in units of the output's median one (Jylanki, Vanhatalo & Vehtari 2011 for the model). Outputs
/// with more than 1000 points are taken without reweighting. O(outputs n^3).
Eigen::MatrixXd robust_weights(const Covariance& k, const Eigen::MatrixXd& x, const Eigen::MatrixXd& y,
                               double noise);

}  // namespace espalier::fitted
