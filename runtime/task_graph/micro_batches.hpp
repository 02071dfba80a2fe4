#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/task_graph/batch_axes.hpp"

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
  std::string uncut_because;  ///< why a batch is not cut as asked for: one micro-batch, or one a sample
};

/// Whether and where a batch may be cut, the same for any size of micro-batch.
struct BatchCut {
  BatchAxes axes;
  std::string uncut_because;      ///< see MicroBatches
  bool sample_by_sample = false;  ///< the network was exported for one sample
};
BatchCut find_cut(const Graph& network, const LayerTable& layers, const Binding& binding, std::int64_t batch);

/// Cuts `batch` samples into micro-batches of `micro_batch`; binds and optimises each size. Where the batch
/// cannot be cut, a network exported for one sample runs sample by sample, any other has the whole batch as
/// one micro-batch, as when micro_batch is 0 or not smaller. InputError when the network cannot be bound to
/// the batch. `where`: what find_cut says of the same network, binding and batch.
MicroBatches cut_batch(const Graph& network, const LayerTable& layers, const Binding& binding,
                       std::int64_t batch, std::int64_t micro_batch, const BatchCut& where);
MicroBatches cut_batch(const Graph& network, const LayerTable& layers, const Binding& binding,
                       std::int64_t batch, std::int64_t micro_batch);

}  // namespace espalier
