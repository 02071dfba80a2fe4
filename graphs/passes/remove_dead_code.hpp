#pragma once

#include "graphs/ir/graph.hpp"

namespace espalier {

/// Drops nodes whose outputs nobody reads, marks unread outputs behind the last read one as absent, and drops
/// values that nothing refers to any more (their ids change). Linear in the size of the graph.
void remove_dead_code(Graph& graph);

}  // namespace espalier
