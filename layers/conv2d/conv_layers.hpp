#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Conv and ConvTranspose.
std::span<const Layer> conv_layers();

}  // namespace espalier
