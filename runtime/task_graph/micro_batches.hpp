#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "graphs/ir/layer.hpp"
#include "graphs/passes/bind.hpp"

namespace espalier {

/// A network bound for micro-batches: one variant for the full ones, and one for the last if it is smaller.
struct MicroBatches {
  struct Variant {
    std::shared_ptr<const Graph> graph;  ///< bound and optimised
    std::int64_t samples = 1;
  };
  std::vector<Variant> variants;
  std::vector<std::uint32_t> units;  ///< the variant of each micro-batch, in order
  std::vector<int> input_axes, output_axes;
  std::int64_t batch = 1;
};

/// Where the samples of a batch lie. Empty: the batch cannot be cut, and `reason` says why.
struct BatchAxes {
  std::vector<int> inputs, outputs;
  std::string reason;
  bool can_cut() const { return reason.empty(); }
};

/// Binds the network to two batch sizes and follows the axis whose extent changes from value to value.
/// An axis is lost where an operator mixes samples (a Softmax or a recurrence along it, a reduction over it):
/// then the batch cannot be cut. An input that does not change belongs to every micro-batch (axis -1).
BatchAxes find_batch_axes(const Graph& network, const LayerTable& layers, const Binding& binding);

/// Whether a symbolic dimension of this name counts samples: "batch", "batch_size", "N" or the like.
bool is_batch_name(const std::string& dimension);

/// The binding with its batch extent set: of the dimension that inputs name so, or else of axis 0.
Binding with_batch(const Graph& network, Binding binding, std::int64_t batch);

/// Cuts `batch` samples into micro-batches of `micro_batch`; binds and optimises each size. The whole batch
/// is one micro-batch when it cannot be cut, or when micro_batch is 0 or not smaller. InputError when the
/// network cannot be bound to the batch.
MicroBatches cut_batch(const Graph& network, const LayerTable& layers, const Binding& binding,
                       std::int64_t batch, std::int64_t micro_batch);

}  // namespace espalier
