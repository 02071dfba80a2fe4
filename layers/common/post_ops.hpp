#pragma once

#include <optional>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// y of a unary activation under its ONNX name (see PostOp); nullopt when the name is not one of Relu,
/// LeakyRelu, Elu, Clip, Sigmoid, HardSigmoid, HardSwish, Silu, Tanh, Mish, Gelu (alpha = 1: the tanh
/// approximation).
std::optional<double> activation_value(const PostOp& op, double x);
inline bool is_activation(const PostOp& op) {
  return activation_value(op, 0).has_value();
}

/// Whether a compute layer can have `op` fused: an activation, or an Add or Mul of output 0's shape.
bool can_fuse_post_op(const NodeView& view, const PostOp& op);

/// The post-operations of a node on single elements, as the reference kernels apply them.
class ReferencePostOps {
 public:
  explicit ReferencePostOps(const NodeView& view);
  /// Why the node's post-operations cannot be applied, or empty.
  static std::string refuses(const NodeView& view);
  bool empty() const { return steps_.empty(); }
  /// `flat` is the element's row-major index in output 0.
  double apply(double value, std::int64_t flat, const KernelArguments& arguments) const;

 private:
  struct Step {
    PostOp op;
    DType dtype = DType::f32;  ///< of the second operand
    std::vector<std::int64_t>
        strides;  ///< of the second operand along output 0's axes, 0 where it is broadcast
  };
  double operand(const Step& step, std::int64_t flat, const KernelArguments& arguments) const;
  std::vector<Step> steps_;
  Shape output_;
};

}  // namespace espalier
