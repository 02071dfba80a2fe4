#include "graphs/passes/bind.hpp"
#include "graphs/passes/remove_dead_code.hpp"

namespace espalier {

void optimise(Graph& graph, const LayerTable& layers) {
  remove_dead_code(graph);
  graph.validate();
}

}  // namespace espalier
