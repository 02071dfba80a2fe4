#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Clip: min(max(x, lower), upper), with lower and upper as optional inputs of one element and x's dtype.
Layer clip_layer();

}  // namespace espalier
