#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Where: x where the boolean condition holds, else y; all three broadcast. Any dtype.
Layer where_layer();

}  // namespace espalier
