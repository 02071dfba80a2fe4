#pragma once

#include <span>
#include <string_view>

#include "graphs/ir/layer.hpp"
#include "layers/elementwise/binary_rows.hpp"

namespace espalier {

/// One operator of the binary family: what it accepts and its rows.
struct BinaryOperator {
  std::string_view op;
  std::string_view variant;  ///< "fmod" of Mod, "RIGHT" of BitShift, else ""
  std::span<const DType> dtypes;
  bool logical = false;  ///< the result is boolean
  BinaryRow (*reference)(DType) = nullptr;
  BinaryRow (*vectorised)() = nullptr;  ///< float32; nullptr where it has no fast row
};

/// The entry for a node, by its operator and the attribute that selects the variant. InputError for a wrong
/// value of that attribute, InternalError for an operator outside the family.
const BinaryOperator& binary_operator(const NodeView& view);

}  // namespace espalier
