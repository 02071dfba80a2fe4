#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Pow: base to the exponent, broadcast; the result has the base's dtype, the exponent may have another.
Layer pow_layer();

}  // namespace espalier
