#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// The layout pass: transposes sink towards the outputs, through every operator whose layer has a rule for it
/// (Layer::permute), until they meet their inverse or an operator that needs its axes in order.
///
/// One walk in order. A transposed value is not computed but remembered as "permutation p of u"; permutations
/// compose, and one that is the identity is no operation at all. A node with a rule is moved to the axis
/// order in which fewest bytes of its run-time inputs would have to be permuted (a tie moves it, since the
/// order may vanish further down); every other node gets its inputs in their own order. A permutation that
/// only moves extents of 1 is a Reshape. Each permutation of a value is computed once.
void move_transposes(Graph& graph, const LayerTable& layers);

}  // namespace espalier
