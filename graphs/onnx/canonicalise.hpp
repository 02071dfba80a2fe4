#pragma once

#include "graphs/ir/graph.hpp"

namespace espalier {

/// The opset versions that the importer reads in full. Opset 6 differs from 7 in `broadcast` attributes,
/// which are rewritten where the ranks are known; of versions before that only operators that have not
/// changed since are accepted.
constexpr int kOldestOpset = 7;
constexpr int kNewestOpset = 18;

/// Appends `node`, read from a file of this opset, to the graph in the form of opset 18 (graphs/README.md):
/// one node or the few that replace it. Its outputs already are values of the graph. InputError, without the
/// node's name, for what the canonical form cannot say (a random dropout, a broadcast along an axis, ...).
void append_canonical(Graph& graph, Node node, int opset);

}  // namespace espalier
