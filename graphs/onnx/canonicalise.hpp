#pragma once

#include "graphs/ir/graph.hpp"

namespace espalier {

/// The opset versions that the importer reads. Opset 6 differs from 7 only in `broadcast` attributes, which
/// are accepted where they mean what opset 7 does without them.
constexpr int kOldestOpset = 6;
constexpr int kNewestOpset = 18;

/// Appends `node`, read from a file of this opset, to the graph in the form of opset 18 (graphs/README.md):
/// one node or the few that replace it. Its outputs already are values of the graph. InputError, without the
/// node's name, for what the canonical form cannot say (a random dropout, a broadcast along an axis, ...).
void append_canonical(Graph& graph, Node node, int opset);

}  // namespace espalier
