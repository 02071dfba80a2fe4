#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// The table of every layer. A folder of layers/ adds one line to layer_list.cpp.
const LayerTable& all_layers();

}  // namespace espalier
