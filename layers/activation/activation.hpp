#pragma once

#include <span>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Relu ... Shrink: README.md has the formulas.
std::span<const Layer> activation_layers();

}  // namespace espalier
