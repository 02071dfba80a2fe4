#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Common sub-expressions: a node with the operator, attributes and inputs of an earlier one is dropped, and
/// its readers read the earlier one. Nodes that have a tensor attribute or give a graph output stay. The
/// tables hold no random operator, so equal nodes give equal results.
void share_equal_nodes(Graph& graph);

}  // namespace espalier
