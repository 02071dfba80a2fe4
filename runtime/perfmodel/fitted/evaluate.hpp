#pragma once

#include <string>
#include <vector>

#include "runtime/perfmodel/fitted/kernel_fit.hpp"

namespace espalier::fitted {

/// One time that a fit predicted without having seen it.
struct Prediction {
  std::size_t device;
  Problem problem;
  double predicted, measured;  ///< seconds
  bool seen = false;           ///< the problem was in the training data, on whatever device
  double error() const { return predicted / measured - 1; }
};

struct KernelEvaluation {
  KernelKind kind = KernelKind::gemm;
  std::vector<std::string> devices;
  std::vector<Prediction> predictions;
  std::vector<std::string> unknown_devices;  ///< in the test data alone: not predicted
};

/// Median of |error| over the predictions that `keep` accepts; NaN for none.
struct ErrorSummary {
  double median = 0;
  std::size_t count = 0;
};
ErrorSummary median_error(const KernelEvaluation& evaluation, const std::string& device = {});
ErrorSummary median_error_of(const KernelEvaluation& evaluation, bool seen);

/// Problems are dealt to `folds` (0: as many as problems; at most as many); each fold is predicted by a fit
/// of the others, so no device's time of a held-out problem is known. Hyper-parameters are fitted to each
/// fold's training problems alone. Which problem is in which fold depends on its place in the order of
/// problems.
KernelEvaluation cross_validate(const KernelTimes& times, int folds);

/// Trained on one set, tested on another.
KernelEvaluation evaluate(const KernelTimes& training, const KernelTimes& test);

}  // namespace espalier::fitted
