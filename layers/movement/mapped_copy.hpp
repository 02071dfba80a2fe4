#pragma once

#include <memory>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Output 0 = input 0 with position i along each axis taken from source_positions[axis][i] (>= 0). Trailing
/// axes that map to themselves move as one block.
std::unique_ptr<Kernel> make_mapped_kernel(const NodeView& view,
                                           const std::vector<std::vector<std::int64_t>>& source_positions);

}  // namespace espalier
