#include "layers/activation/activation.hpp"

#include <fmt/format.h>
#include <vector>

#include "graphs/base/error.hpp"
#include "layers/activation/clip.hpp"
#include "layers/common/activations.hpp"
#include "layers/elementwise/unary_family.hpp"

namespace espalier {
namespace {

template <int alpha_per_mille>
ActivationParameters alpha_only(const Attributes& attributes) {
  return {attributes.get_float("alpha", static_cast<float>(alpha_per_mille) / 1000.0F), 0};
}

ActivationParameters hard_sigmoid_parameters(const Attributes& attributes) {
  return {attributes.get_float("alpha", 0.2F), attributes.get_float("beta", 0.5F)};
}

ActivationParameters selu_parameters(const Attributes& attributes) {
  return {attributes.get_float("alpha", 1.67326319217681884765625F),
          attributes.get_float("gamma", 1.05070102214813232421875F)};
}

ActivationParameters shrink_parameters(const Attributes& attributes) {
  return {attributes.get_float("lambd", 0.5F), attributes.get_float("bias", 0)};
}

ActivationParameters gelu_parameters(const Attributes& attributes) {
  const std::string approximate = attributes.get_string("approximate", "none");
  if (approximate == "none") return {0, 0};
  if (approximate == "tanh") return {1, 0};
  throw InputError(fmt::format("attribute approximate is \"{}\"; accepted: none, tanh", approximate));
}

struct AnyShrink : ShrinkFunction {
  using ComputesIntegersAsDouble = void;
};

std::span<const UnaryOperator> table() {
  static const UnaryOperator entries[] = {
      fast_unary<ReluFunction, Signed>("Relu", "max(x, 0)", 1),
      fast_unary<LeakyReluFunction, Floats>("LeakyRelu", "x, or alpha x where x < 0", 2, alpha_only<10>),
      fast_unary<ThresholdedReluFunction, Floats>("ThresholdedRelu", "x where x > alpha, else 0", 1,
                                                  alpha_only<1000>),
      fast_unary<HardSigmoidFunction, Floats>("HardSigmoid", "alpha x + beta cut to 0..1", 4,
                                              hard_sigmoid_parameters),
      fast_unary<HardSwishFunction, Floats>("HardSwish", "x times x / 6 + 1/2 cut to 0..1", 5),
      fast_unary<SoftsignFunction, Floats>("Softsign", "x / (1 + |x|)", 4),
      fast_unary<AnyShrink, Numeric>("Shrink", "towards 0 by bias outside -lambd..lambd, 0 inside", 3,
                                     shrink_parameters),
      plain_unary<SigmoidFunction, Floats>("Sigmoid", "1 / (1 + e^-x)", 12),
      plain_unary<TanhFunction, Floats>("Tanh", "hyperbolic tangent", 15),
      plain_unary<EluFunction, Floats>("Elu", "x, or alpha (e^x - 1) where x < 0", 12, alpha_only<1000>),
      plain_unary<SeluFunction, Floats>("Selu", "gamma times Elu", 13, selu_parameters),
      plain_unary<CeluFunction, Floats>("Celu", "x, or alpha (e^(x / alpha) - 1) where x < 0", 13,
                                        alpha_only<1000>),
      plain_unary<GeluFunction, Floats>("Gelu", "x times the normal distribution function of x", 25,
                                        gelu_parameters),
      plain_unary<SoftplusFunction, Floats>("Softplus", "log(1 + e^x)", 20),
      plain_unary<MishFunction, Floats>("Mish", "x tanh(log(1 + e^x))", 35),
      plain_unary<SiluFunction, Floats>("Silu", "x / (1 + e^-x)", 13),
  };
  return entries;
}

const UnaryOperator& find(const NodeView& view) {
  for (const UnaryOperator& entry : table())
    if (entry.op == view.op()) return entry;
  throw InternalError(fmt::format("{} is not an activation", view.op()));
}

std::vector<Layer> make_layers() {
  std::vector<Layer> layers;
  for (const UnaryOperator& entry : table()) layers.push_back(UnaryFamily<find>::layer(entry));
  layers.push_back(clip_layer());
  return layers;
}

}  // namespace

std::span<const Layer> activation_layers() {
  static const std::vector<Layer> layers = make_layers();
  return layers;
}

}  // namespace espalier
