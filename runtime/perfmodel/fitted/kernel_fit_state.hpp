#pragma once

#include "runtime/perfmodel/fitted/gaussian_process.hpp"
#include "runtime/perfmodel/fitted/kernel_fit.hpp"

/// What a KernelFit holds; for the JSON of models and nothing else.
namespace espalier::fitted {

struct FitMember {
  std::vector<std::string> features;
  Covariance covariance;
  Eigen::VectorXd mean, scale;  ///< of the features over the problems
  Eigen::MatrixXd points;       ///< problems x features, standardised
  Eigen::MatrixXd weights;      ///< problems x devices: of the common part and the device's own together

  /// Features of a call, standardised: a row.
  Eigen::RowVectorXd point(KernelKind kind, const Problem& problem) const;
};

struct KernelFit::State {
  KernelKind kind = KernelKind::gemm;
  std::vector<std::string> devices;
  std::vector<Problem> problems;
  std::vector<double> means;       ///< by device, of the logarithm of the time over the baseline
  std::vector<double> flop_rates;  ///< by device: best measured, in flop/s and byte/s
  std::vector<double> byte_rates;
  std::vector<FitMember> members;
};

/// Logarithm of a quantity that the time is in proportion to: the number of time steps; 0 elsewhere.
double log_baseline(KernelKind kind, const Problem& problem);

}  // namespace espalier::fitted
