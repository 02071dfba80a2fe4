#include "layers/common/activations.hpp"

#include <array>
#include <utility>

namespace espalier {
namespace {

template <class F>
void row(const float* x, float* y, std::int64_t n, ActivationParameters p) {
  const auto alpha = static_cast<float>(p.alpha);
  const auto beta = static_cast<float>(p.beta);
  for (std::int64_t i = 0; i < n; ++i) y[i] = F{}(x[i], alpha, beta);
}

template <class... Fs>
ActivationRow find(std::string_view op) {
  ActivationRow found = nullptr;
  static_cast<void>(((Fs::op == op && (found = &row<Fs>, true)) || ...));
  return found;
}

}  // namespace

ActivationRow activation_row(std::string_view op) {
  return find<ReluFunction, LeakyReluFunction, ClipFunction, SigmoidFunction, HardSigmoidFunction,
              HardSwishFunction, TanhFunction, EluFunction, SeluFunction, CeluFunction, GeluFunction,
              SoftplusFunction, SoftsignFunction, MishFunction, SiluFunction, ThresholdedReluFunction,
              ShrinkFunction, AffineFunction, ScaledTanhFunction>(op);
}

}  // namespace espalier
