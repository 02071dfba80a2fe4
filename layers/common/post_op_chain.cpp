#include "layers/common/post_op_chain.hpp"

#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {

PostOpChain::PostOpChain(const NodeView& view) {
  if (view.node.post_ops.empty()) return;
  const Shape& out = view.outputs.at(0)->shape;
  elements_ = out.elements();
  for (const PostOp& op : view.node.post_ops) {
    Step step;
    if (op.op == "Add" || op.op == "Mul") {
      if (op.input_index < 0 || !view.has_input(static_cast<std::size_t>(op.input_index)))
        throw InternalError(fmt::format("node {}: fused {} has no input", view.node.name, op.op));
      step.multiply = op.op == "Mul";
      step.input = op.input_index;
      step.broadcast = plan_broadcast(out, {&view.shape(static_cast<std::size_t>(op.input_index)), 1});
    } else {
      step.row = activation_row(op.op);
      step.parameters = {op.alpha, op.beta};
      if (step.row == nullptr)
        throw InternalError(fmt::format("node {}: no fused operation {}", view.node.name, op.op));
    }
    steps_.push_back(std::move(step));
  }
}

void PostOpChain::apply(float* y, std::span<const void* const> inputs) const {
  for (const Step& step : steps_) {
    if (step.row != nullptr) {
      step.row(y, y, elements_, step.parameters);
      continue;
    }
    const auto* b = static_cast<const float*>(inputs[static_cast<std::size_t>(step.input)]);
    const std::int64_t n = step.broadcast.row().extent;
    const std::int64_t stride = step.broadcast.row().strides[0];
    for_each_row(step.broadcast, [&](std::int64_t out, const BroadcastPlan::Offsets& in) {
      for (std::int64_t i = 0; i < n; ++i) {
        const float v = b[in[0] + i * stride];
        y[out + i] = step.multiply ? y[out + i] * v : y[out + i] + v;
      }
    });
  }
}

void apply_post_ops(float* y, const NodeView& view, std::span<const void* const> inputs) {
  PostOpChain(view).apply(y, inputs);
}

}  // namespace espalier
