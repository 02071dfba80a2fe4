#include "layers/movement/indices.hpp"

#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {

std::int64_t checked_index(std::int64_t index, std::int64_t extent, int axis) {
  if (index < -extent || index >= extent)
    throw InputError(fmt::format("index {} is outside [{}, {}) of axis {}", index, -extent, extent, axis));
  return index < 0 ? index + extent : index;
}

void require_index_type(const NodeView& view, std::size_t i, const char* what) {
  const DType t = view.inputs[i]->dtype;
  if (t != DType::i32 && t != DType::i64)
    throw InputError(fmt::format("{} is {}; int32 or int64 is needed", what, view.inputs[i]->to_string()));
}

}  // namespace espalier
