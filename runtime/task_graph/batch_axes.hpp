#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"
#include "graphs/passes/bind.hpp"

namespace espalier {

/// Where the samples of a batch lie. Empty: the batch cannot be cut, and `reason` says why.
struct BatchAxes {
  std::vector<int> inputs, outputs;
  std::string reason;
  bool can_cut() const { return reason.empty(); }
};

/// Binds the network to two batch sizes and follows the axis whose extent changes from value to value. Within
/// the network an axis may hold several rows of each sample, one sample's after the other's, as where images
/// are cut into windows; of an input or output it must hold one. The batch cannot be cut where an operator
/// mixes samples (a Softmax or a recurrence along the axis, a reduction over it), changes their order, or
/// where a number depends on the size of the batch. An input that does not change belongs to every
/// micro-batch (axis -1). InputError never: a network that cannot be bound is a reason.
BatchAxes find_batch_axes(const Graph& network, const LayerTable& layers, const Binding& binding);

/// The axes of a network exported for one sample, whose inputs and outputs have a leading extent of 1 that is
/// no symbol: a batch of it is that many runs of one sample, whatever it does inside. Else the reason why
/// not.
BatchAxes axes_of_one_sample(const Graph& network, const LayerTable& layers, const Binding& binding);

/// Whether a symbolic dimension of this name counts samples: "batch", "batch_size", "N" or the like.
bool is_batch_name(const std::string& dimension);

/// The binding with its batch extent set: of the dimension that inputs name so, or else of axis 0.
Binding with_batch(const Graph& network, Binding binding, std::int64_t batch);

}  // namespace espalier
