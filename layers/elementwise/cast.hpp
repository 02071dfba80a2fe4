#pragma once

#include <span>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Identity, Cast (attribute `to`) and CastLike (the dtype of input 1).
std::span<const Layer> cast_layers();

}  // namespace espalier
