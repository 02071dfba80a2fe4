#include "graphs/passes/bind.hpp"
#include "graphs/passes/eliminate_identity.hpp"
#include "graphs/passes/fold_batch_norm.hpp"
#include "graphs/passes/fold_constants.hpp"
#include "graphs/passes/fuse_activation.hpp"
#include "graphs/passes/fuse_patterns.hpp"
#include "graphs/passes/fuse_pointwise_depthwise.hpp"
#include "graphs/passes/move_transposes.hpp"
#include "graphs/passes/remove_dead_code.hpp"
#include "graphs/passes/share_equal_nodes.hpp"
#include "graphs/passes/types.hpp"

namespace espalier {

void optimise(Graph& graph, const LayerTable& layers) {
  // what does nothing, or the same twice
  fold_constants(graph, layers);
  apply_rules(graph, layers, {eliminate_identity});
  share_equal_nodes(graph);
  remove_dead_code(graph);

  // what exporters write in pieces
  apply_rules(graph, layers, {fuse_patterns});
  remove_dead_code(graph);

  // channels last through the whole graph; then reshapes meet reshapes
  move_transposes(graph, layers);
  remove_dead_code(graph);
  apply_rules(graph, layers, {join_reshapes, eliminate_identity});
  remove_dead_code(graph);

  // into the weights first, then behind the kernel; one sweep, since Conv, Relu, Add, Relu fuses in that
  // order
  apply_rules(graph, layers, {fold_batch_norm, fuse_bias});
  apply_rules(graph, layers, {fuse_activation, fuse_residual_add});
  apply_rules(graph, layers, {fuse_pointwise_depthwise});

  remove_dead_code(graph);
  make_names_unique(graph);
  graph.validate();
}

}  // namespace espalier
