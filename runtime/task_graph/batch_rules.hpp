#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "graphs/ir/graph.hpp"

namespace espalier {

constexpr int kNotBatched = -1;  ///< a value that is the same for every batch
constexpr int kMixed = -2;       ///< one whose shape does not follow the batch along one axis

/// Where the samples of a value lie: along one axis of extent P n rows (n samples), `rows` of the first
/// sample, as many of the second, and so on through all of them, P times.
struct SampleAxis {
  int axis = kNotBatched;
  std::int64_t rows = 1;
  friend bool operator==(const SampleAxis&, const SampleAxis&) = default;
};

/// Whether input i of the node only says shapes (Reshape's second, Slice's bounds): it may well depend on the
/// size of the batch.
bool is_shape_operand(const Node& node, std::size_t i);

/// The rows of a sample along `axis` of `output` where each sample's part of it is computed from that
/// sample's parts of the inputs alone; nullopt where samples are mixed or their order changes. For an
/// operator of a graph bound to `samples` whose output follows the batch along `axis`, as one of the inputs
/// does.
std::optional<std::int64_t> rows_of_sample(const Graph& graph, const Node& node,
                                           std::span<const SampleAxis> inputs, ValueId output, int axis,
                                           std::int64_t samples);

/// Whether a node without batched inputs gives every sample the same along `axis`.
bool repeats_for_samples(const Graph& graph, const Node& node, int axis);

}  // namespace espalier
