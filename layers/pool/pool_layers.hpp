#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// MaxPool, AveragePool, LpPool and their Global forms.
std::span<const Layer> pool_layers();

}  // namespace espalier
