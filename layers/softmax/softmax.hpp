#pragma once

#include <span>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Softmax and LogSoftmax along one axis.
std::span<const Layer> softmax_layers();

}  // namespace espalier
