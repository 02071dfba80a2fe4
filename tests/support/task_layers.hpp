#pragma once

#include <map>

#include "graphs/ir/layer.hpp"

namespace espalier::test {

/// A small table of layers with plain kernels on float32, for tests of lowering and of engines:
/// Affine (2 x + 1), Add (two inputs of equal shape), Halves (two outputs: x / 2 and -x / 2),
/// Blur (mean of neighbours in the last axis, with scratch memory), Flat (alias to rank 2), MeanRows (mean
/// over axis 0, which mixes samples), Refuse (its kernel throws InputError when element 0 is negative).
const LayerTable& task_layers();

/// A random bound graph of `nodes` of these layers over [batch, 6, 8], one or two inputs and outputs; some
/// outputs are inputs or are given twice.
Graph random_task_graph(std::uint64_t seed, int nodes, std::int64_t batch);

/// Random values for every input of a bound graph.
std::map<std::string, Tensor> random_task_inputs(const Graph& graph, std::uint64_t seed);

}  // namespace espalier::test
