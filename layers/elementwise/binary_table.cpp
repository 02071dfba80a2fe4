#include "layers/elementwise/binary_table.hpp"

#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/elementwise/binary_functors.hpp"

namespace espalier {
namespace {

template <class Op, class List>
BinaryOperator plain(std::string_view op, std::string_view variant = "") {
  return {op, variant, dtypes_of(List{}), Op::logical, &reference_binary_row<Op, List>, nullptr};
}

template <class Op, class List>
BinaryOperator fast(std::string_view op) {
  BinaryOperator entry = plain<Op, List>(op);
  entry.vectorised = &vectorised_binary_row<Op>;
  return entry;
}

using PReluTypes =
    Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

std::span<const BinaryOperator> table() {
  static const BinaryOperator entries[] = {
      fast<functors::Add, Numeric>("Add"),
      fast<functors::Sub, Numeric>("Sub"),
      fast<functors::Mul, Numeric>("Mul"),
      fast<functors::Div, Numeric>("Div"),
      fast<functors::Min, Numeric>("Min"),
      fast<functors::Max, Numeric>("Max"),
      fast<functors::Add, Floats>("Sum"),
      fast<functors::Add, Floats>("Mean"),
      fast<functors::PRelu, PReluTypes>("PRelu"),
      plain<functors::Mod, Integers>("Mod"),
      plain<functors::Fmod, Numeric>("Mod", "fmod"),
      plain<functors::ShiftLeft, UnsignedIntegers>("BitShift", "LEFT"),
      plain<functors::ShiftRight, UnsignedIntegers>("BitShift", "RIGHT"),
      plain<functors::BitwiseAnd, Integers>("BitwiseAnd"),
      plain<functors::BitwiseOr, Integers>("BitwiseOr"),
      plain<functors::BitwiseXor, Integers>("BitwiseXor"),
      fast<functors::Equal, AllTypes>("Equal"),
      fast<functors::Greater, Numeric>("Greater"),
      fast<functors::GreaterOrEqual, Numeric>("GreaterOrEqual"),
      fast<functors::Less, Numeric>("Less"),
      fast<functors::LessOrEqual, Numeric>("LessOrEqual"),
      plain<functors::And, Booleans>("And"),
      plain<functors::Or, Booleans>("Or"),
      plain<functors::Xor, Booleans>("Xor"),
  };
  return entries;
}

std::string_view variant_of(const NodeView& view) {
  if (view.op() == "Mod") return view.attributes().get_int("fmod", 0) != 0 ? "fmod" : "";
  if (view.op() != "BitShift") return "";
  const std::string direction = view.attributes().get_string("direction", "");
  if (direction == "LEFT") return "LEFT";
  if (direction == "RIGHT") return "RIGHT";
  throw InputError(fmt::format("attribute direction is \"{}\"; accepted: LEFT, RIGHT", direction));
}

}  // namespace

const BinaryOperator& binary_operator(const NodeView& view) {
  const std::string_view variant = variant_of(view);
  for (const BinaryOperator& entry : table())
    if (entry.op == view.op() && entry.variant == variant) return entry;
  throw InternalError(fmt::format("{} is not a binary operator", view.op()));
}

}  // namespace espalier
