#pragma once

#include <string>
#include <vector>

#include "runtime/perfmodel/fitted/evaluate.hpp"

namespace espalier {

/// Errors of one all-reduce system.
struct AllReduceReport {
  std::string system;
  double latency = 0, bandwidth = 0;  ///< of the fit to all sizes
  double median_error = 0;            ///< of sizes that the fit did not see
  std::size_t count = 0;
};

/// What `espalier fit-costs` found out.
struct FitReport {
  std::string method;  ///< "cross-validated by problem, 10 folds"
  std::vector<fitted::KernelEvaluation> kernels;
  std::vector<AllReduceReport> all_reduces;
};

/// Trained on one, tested on the same by cross-validation.
FitReport cross_validation_report(const fitted::Measurements& data, int folds);
/// Trained on one, tested on the other. InputError when they have no kernel in common.
FitReport evaluation_report(const fitted::Measurements& training, const fitted::Measurements& test);

/// Tables by kernel and device, and the `worst` predictions of each kernel.
std::string report_to_text(const FitReport& report, int worst);
std::string report_to_json(const FitReport& report, int worst);

}  // namespace espalier
