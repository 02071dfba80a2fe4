#include "layers/common/broadcast.hpp"

#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// Strides of `in` aligned to the last axes of `out`; 0 where it repeats.
std::vector<std::int64_t> aligned_strides(const Shape& out, const Shape& in) {
  if (in.rank() > out.rank())
    throw InternalError(fmt::format("{} broadcast to {}", in.to_string(), out.to_string()));
  std::vector<std::int64_t> strides(static_cast<std::size_t>(out.rank()), 0);
  const std::vector<std::int64_t> own = in.strides();
  for (int i = 1; i <= in.rank(); ++i) {
    if (in[-i] == 1) continue;
    if (in[-i] != out[-i])
      throw InternalError(fmt::format("{} broadcast to {}", in.to_string(), out.to_string()));
    strides[static_cast<std::size_t>(out.rank() - i)] = own[static_cast<std::size_t>(in.rank() - i)];
  }
  return strides;
}

/// Whether `outer` steps exactly over the whole of `inner` for the output and each input.
bool mergeable(const BroadcastPlan::Axis& outer, const BroadcastPlan::Axis& inner) {
  for (std::size_t k = 0; k < kMaxBroadcastInputs; ++k)
    if (outer.strides[k] != inner.strides[k] * inner.extent) return false;
  return outer.out_stride == inner.out_stride * inner.extent;
}

}  // namespace

BroadcastPlan plan_broadcast(const Shape& out, std::span<const Shape> inputs) {
  if (inputs.size() > kMaxBroadcastInputs) throw InternalError("too many inputs in one broadcast");
  std::vector<std::vector<std::int64_t>> strides;
  for (const Shape& in : inputs) strides.push_back(aligned_strides(out, in));
  const std::vector<std::int64_t> out_strides = out.strides();
  BroadcastPlan plan;
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] == 1) continue;
    BroadcastPlan::Axis axis{out[i], out_strides[static_cast<std::size_t>(i)], {}};
    for (std::size_t k = 0; k < inputs.size(); ++k) axis.strides[k] = strides[k][static_cast<std::size_t>(i)];
    if (!plan.axes.empty() && mergeable(plan.axes.back(), axis)) {
      axis.extent *= plan.axes.back().extent;
      plan.axes.back() = axis;
    } else {
      plan.axes.push_back(axis);
    }
  }
  if (plan.axes.empty()) plan.axes.emplace_back();
  return plan;
}

Shape broadcast_inputs(const NodeView& view, std::size_t first, std::size_t last) {
  Shape shape = view.shape(first);
  for (std::size_t i = first + 1; i < last; ++i) shape = broadcast(shape, view.shape(i));
  return shape;
}

LayerCost elementwise_cost(const NodeView& view, double flops_per_element) {
  LayerCost cost;
  for (const TensorType* t : view.inputs)
    if (t != nullptr) cost.bytes_read += Bytes(t->bytes());
  for (const TensorType* t : view.outputs)
    if (t != nullptr) cost.bytes_written += Bytes(t->bytes());
  if (!view.outputs.empty() && view.outputs[0] != nullptr)
    cost.flops = Flops(flops_per_element * static_cast<double>(view.outputs[0]->shape.elements()));
  return cost;
}

}  // namespace espalier
