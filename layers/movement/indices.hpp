#pragma once

#include <cstdint>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Element i of a tensor of int32 or int64 indices.
inline std::int64_t read_index(const void* data, DType dtype, std::int64_t i) {
  return dtype == DType::i32 ? static_cast<const std::int32_t*>(data)[i]
                             : static_cast<const std::int64_t*>(data)[i];
}

/// An index in [-extent, extent) made non-negative. InputError naming index, axis and extent otherwise.
std::int64_t checked_index(std::int64_t index, std::int64_t extent, int axis);

/// InputError unless input i is int32 or int64.
void require_index_type(const NodeView& view, std::size_t i, const char* what);

}  // namespace espalier
