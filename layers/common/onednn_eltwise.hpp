#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "layers/common/activations.hpp"

namespace espalier {

/// A function of oneDNN's eltwise primitive: dnnl_alg_kind_t and its two parameters.
struct OneDnnEltwise {
  int algorithm = 0;
  float alpha = 0;
  float beta = 0;
};

/// The eltwise function that equals an operator (an ONNX name of unary arithmetic or of an activation), or
/// nullopt where oneDNN has none, has it with other parameters only, or is off by more than 1e-6 (log,
/// soft_relu) or loses NaN (exp).
std::optional<OneDnnEltwise> onednn_eltwise(std::string_view op, ActivationParameters parameters);

/// One eltwise primitive over n > 0 contiguous floats. Not thread-safe. DeviceError when oneDNN fails.
class EltwisePrimitive {
 public:
  EltwisePrimitive(const OneDnnEltwise& eltwise, std::int64_t elements);
  ~EltwisePrimitive();
  /// y may be x.
  void run(const float* x, float* y);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace espalier
