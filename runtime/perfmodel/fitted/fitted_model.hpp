#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/perfmodel/fitted/all_reduce.hpp"
#include "runtime/perfmodel/fitted/evaluate.hpp"
#include "runtime/perfmodel/fitted/kernel_fit.hpp"

namespace espalier::fitted {

/// The fit of one kernel and its errors on problems that it had not seen when they were predicted.
struct FittedKernel {
  KernelFit fit;
  std::vector<ErrorSummary> errors;  ///< by device
};

/// The best rate, in byte/s, at which a device was seen to move the operands of a call of 32 MB or more: what
/// layers that only move data are charged with.
struct FittedBandwidth {
  std::string device;  ///< "NV_V100/fp32"
  double rate = 0;
};

struct FittedAllReduce {
  AllReduceFit fit;
  double error = 0;  ///< median relative error on sizes not seen
};

/// What `espalier fit-costs --out` writes: costs of devices without the measurements they were fitted to.
struct FittedModel {
  std::vector<FittedKernel> kernels;
  std::vector<FittedBandwidth> bandwidths;
  std::vector<FittedAllReduce> all_reduces;

  const FittedKernel* find(KernelKind kind, std::string_view device) const;
  const FittedBandwidth* bandwidth_of(std::string_view device) const;
  /// Names of all devices, in ascending order.
  std::vector<std::string> devices() const;
};

/// Fits to all data; `folds` of the cross-validation that gives the errors (0: each problem in turn).
FittedModel train_model(const Measurements& data, int folds);
/// The same with cross-validations that were made before, in the order of data.kernels.
FittedModel train_model(const Measurements& data, const std::vector<KernelEvaluation>& evaluations,
                        int folds);

/// JSON of a model, numbers with twelve digits.
std::string to_json(const FittedModel& model);
/// InputError naming `name` and the entry for what is no such file, of another version, or inconsistent.
FittedModel model_from_json(std::string_view text, const std::string& name);

}  // namespace espalier::fitted
