#pragma once

#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// Along one axis: output position j is the sum over k of weight[j * taps + k] x[index[j * taps + k]], or the
/// extrapolation value where `outside` says so (tf_crop_and_resize).
struct AxisTaps {
  std::int64_t in = 1;
  std::int64_t out = 1;
  int taps = 1;
  std::vector<std::int64_t> index;  ///< within [0, in)
  std::vector<double> weight;
  std::vector<bool> outside;
  bool identity = false;
};

/// What a Resize node asks for, an entry for each axis of its input.
struct ResizePlan {
  Shape out;
  std::vector<AxisTaps> axes;
  bool nearest = false;
  double extrapolation_value = 0;
  bool extrapolates = false;  ///< some position is outside
};

/// Output shape alone. InputError for attributes, scales or sizes that make no sense.
Shape resized_shape(const NodeView& view);
ResizePlan plan_resize(const NodeView& view);

}  // namespace espalier
