#include "layers/common/post_ops.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"

namespace espalier {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

bool is_binary(const PostOp& op) {
  return op.op == "Add" || op.op == "Mul";
}

const TensorType* operand_type(const NodeView& view, const PostOp& op) {
  return op.input_index >= 0 && view.has_input(static_cast<std::size_t>(op.input_index))
             ? view.inputs[op.input_index]
             : nullptr;
}

double gelu(double x, bool tanh_form) {
  if (tanh_form) return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
}

}  // namespace

std::optional<double> activation_value(const PostOp& p, double x) {
  if (p.op == "Relu") return std::max(x, 0.0);
  if (p.op == "Clip") return std::min(std::max(x, double(p.alpha)), double(p.beta));
  if (p.op == "Silu") return x * sigmoid(x);
  if (p.op == "Sigmoid") return sigmoid(x);
  if (p.op == "HardSigmoid") return std::clamp(p.alpha * x + p.beta, 0.0, 1.0);
  if (p.op == "HardSwish") return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
  if (p.op == "Tanh") return std::tanh(x);
  if (p.op == "LeakyRelu") return x < 0 ? p.alpha * x : x;
  if (p.op == "Elu") return x < 0 ? p.alpha * std::expm1(x) : x;
  if (p.op == "Gelu") return gelu(x, p.alpha == 1);
  if (p.op == "Mish") return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))));
  return std::nullopt;
}

bool can_fuse_post_op(const NodeView& view, const PostOp& op) {
  if (!view.inputs.empty() && view.has_input(0) && !is_float(view.inputs[0]->dtype)) return false;
  if (!is_binary(op)) return is_activation(op);
  const TensorType* other = operand_type(view, op);
  return other == nullptr || view.outputs.empty() || other->shape == view.outputs[0]->shape;
}

ReferencePostOps::ReferencePostOps(const NodeView& view) {
  if (view.outputs.empty()) throw InternalError("post-operations need the output's type");
  output_ = view.outputs[0]->shape;
  for (const PostOp& op : view.node.post_ops) {
    Step step{op, DType::f32, {}};
    if (const TensorType* other = is_binary(op) ? operand_type(view, op) : nullptr) {
      step.dtype = other->dtype;
      const auto own = other->shape.strides();
      const int shift = output_.rank() - other->shape.rank();
      for (int axis = 0; axis < output_.rank(); ++axis)
        step.strides.push_back(axis < shift || other->shape[axis - shift] == 1 ? 0 : own[axis - shift]);
    }
    steps_.push_back(std::move(step));
  }
}

std::string ReferencePostOps::refuses(const NodeView& view) {
  for (const PostOp& op : view.node.post_ops) {
    if (is_activation(op)) continue;
    if (!is_binary(op)) return fmt::format("fused operation {} is not served", op.op);
    const TensorType* other = operand_type(view, op);
    if (other == nullptr) return fmt::format("fused {} lacks its second operand", op.op);
    if (!is_float(other->dtype)) return fmt::format("fused {} of {}", op.op, other->to_string());
    if (!view.outputs.empty() && broadcast(other->shape, view.outputs[0]->shape) != view.outputs[0]->shape)
      return fmt::format("fused {} of {} would widen the output {}", op.op, other->to_string(),
                         view.outputs[0]->to_string());
  }
  return {};
}

double ReferencePostOps::operand(const Step& step, std::int64_t flat,
                                 const KernelArguments& arguments) const {
  std::int64_t offset = 0;
  for (int axis = output_.rank() - 1; axis >= 0; --axis) {
    offset += flat % output_[axis] * step.strides[axis];
    flat /= output_[axis];
  }
  const void* data = arguments.inputs[step.op.input_index];
  return dispatch(Floats{}, step.dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return static_cast<double>(static_cast<const T*>(data)[offset]);
  });
}

double ReferencePostOps::apply(double value, std::int64_t flat, const KernelArguments& arguments) const {
  for (const Step& step : steps_) {
    if (step.op.op == "Add")
      value += operand(step, flat, arguments);
    else if (step.op.op == "Mul")
      value *= operand(step, flat, arguments);
    else
      value = *activation_value(step.op, value);
  }
  return value;
}

}  // namespace espalier
