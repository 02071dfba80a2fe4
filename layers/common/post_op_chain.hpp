#pragma once

#include <span>
#include <vector>

#include "layers/common/activations.hpp"
#include "layers/common/broadcast.hpp"

namespace espalier {

/// The fused operations of a node, made ready for float32 outputs of fixed shape: the yardstick of what
/// implementations fuse, and what the references run. Keeps no reference to the view.
class PostOpChain {
 public:
  PostOpChain() = default;
  /// InternalError for an operation that is neither Add, Mul nor an activation with a row.
  explicit PostOpChain(const NodeView& view);
  bool empty() const { return steps_.empty(); }
  /// Applies every operation in order to y, output 0 in its own row-major order. `inputs` are those of the
  /// node.
  void apply(float* y, std::span<const void* const> inputs) const;

 private:
  struct Step {
    bool multiply = false;
    int input = -1;           ///< of Add and Mul
    BroadcastPlan broadcast;  ///< input to output
    ActivationRow row = nullptr;
    ActivationParameters parameters;
  };
  std::vector<Step> steps_;
  std::int64_t elements_ = 0;
};

/// PostOpChain(view).apply(y, inputs) in one call.
void apply_post_ops(float* y, const NodeView& view, std::span<const void* const> inputs);

}  // namespace espalier
