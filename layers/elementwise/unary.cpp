#include <fmt/format.h>
#include <vector>

#include "graphs/base/error.hpp"
#include "layers/elementwise/cast.hpp"
#include "layers/elementwise/elementwise.hpp"
#include "layers/elementwise/unary_family.hpp"
#include "layers/elementwise/unary_functors.hpp"

namespace espalier {
namespace {

ActivationParameters is_inf_parameters(const Attributes& attributes) {
  return {static_cast<double>(attributes.get_int("detect_positive", 1) != 0),
          static_cast<double>(attributes.get_int("detect_negative", 1) != 0)};
}

std::span<const UnaryOperator> table() {
  static const UnaryOperator entries[] = {
      fast_unary<functors::Abs, Numeric>("Abs", "|x|", 1),
      fast_unary<functors::Neg, Signed>("Neg", "-x", 1),
      fast_unary<functors::Sign, Numeric>("Sign", "-1, 0 or 1", 1),
      fast_unary<functors::Sqrt, Floats>("Sqrt", "square root", 4),
      fast_unary<functors::Reciprocal, Floats>("Reciprocal", "1 / x", 2),
      fast_unary<functors::Floor, Floats>("Floor", "greatest integer <= x", 1),
      fast_unary<functors::Ceil, Floats>("Ceil", "least integer >= x", 1),
      fast_unary<functors::Round, Floats>("Round", "nearest integer, halves to even", 1),
      plain_unary<functors::Exp, Floats>("Exp", "e to the x", 10),
      plain_unary<functors::Log, Floats>("Log", "natural logarithm", 10),
      plain_unary<functors::Erf, Numeric>("Erf", "error function", 20),
      plain_unary<functors::Sin, Floats>("Sin", "sine", 20),
      plain_unary<functors::Cos, Floats>("Cos", "cosine", 20),
      plain_unary<functors::Tan, Floats>("Tan", "tangent", 20),
      plain_unary<functors::Asin, Floats>("Asin", "arc sine", 20),
      plain_unary<functors::Acos, Floats>("Acos", "arc cosine", 20),
      plain_unary<functors::Atan, Floats>("Atan", "arc tangent", 20),
      plain_unary<functors::Sinh, Floats>("Sinh", "hyperbolic sine", 20),
      plain_unary<functors::Cosh, Floats>("Cosh", "hyperbolic cosine", 20),
      plain_unary<functors::Asinh, Floats>("Asinh", "inverse hyperbolic sine", 20),
      plain_unary<functors::Acosh, Floats>("Acosh", "inverse hyperbolic cosine", 20),
      plain_unary<functors::Atanh, Floats>("Atanh", "inverse hyperbolic tangent", 20),
      fast_unary<functors::IsNaN, Floats, true>("IsNaN", "whether x is not a number", 1),
      fast_unary<functors::IsInf, Floats, true>("IsInf", "whether x is infinite", 1, is_inf_parameters),
      plain_unary<functors::Not, Booleans, true>("Not", "not x", 1),
      plain_unary<functors::BitwiseNot, Integers>("BitwiseNot", "~x of integers", 1),
  };
  return entries;
}

const UnaryOperator& find(const NodeView& view) {
  for (const UnaryOperator& entry : table())
    if (entry.op == view.op()) return entry;
  throw InternalError(fmt::format("{} is not a unary operator", view.op()));
}

std::vector<Layer> make_layers() {
  std::vector<Layer> layers;
  for (const UnaryOperator& entry : table()) layers.push_back(UnaryFamily<find>::layer(entry));
  for (const Layer& layer : cast_layers()) layers.push_back(layer);
  return layers;
}

}  // namespace

std::span<const Layer> unary_layers() {
  static const std::vector<Layer> layers = make_layers();
  return layers;
}

}  // namespace espalier
