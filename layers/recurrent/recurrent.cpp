#include "layers/recurrent/recurrent.hpp"

#include "layers/recurrent/problem.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer(const NodeView& view) {
  const RecurrentProblem p(view);
  std::vector<TensorType> out;
  for (std::size_t i = 0; i < view.node.outputs.size(); ++i)
    out.push_back({p.dtype, i == 0 ? p.y_shape() : p.state_shape()});
  return out;
}

LayerCost cost(const NodeView& view) {
  const RecurrentProblem p(view);
  const auto rows = static_cast<double>(p.steps * p.batch * p.directions);
  const auto gates = static_cast<double>(p.gates * p.hidden);
  LayerCost cost;
  cost.flops = Flops(rows * gates * (2.0 * static_cast<double>(p.inputs + p.hidden) + 10.0));
  for (const TensorType* type : view.inputs)
    if (type != nullptr) cost.bytes_read += Bytes(type->bytes());
  for (const TensorType* type : view.outputs)
    if (type != nullptr) cost.bytes_written += Bytes(type->bytes());
  return cost;
}

std::string refuses_stepwise(const NodeView& view, const KernelOptions&) {
  if (view.inputs[0]->dtype != DType::f32) return "the data is not float32";
  for (std::size_t i : {RecurrentProblem::kW, RecurrentProblem::kR, RecurrentProblem::kBias})
    if (view.has_input(i) && view.constants[i] == nullptr) return "weights or bias are computed at run time";
  return {};
}

std::string never_refuses(const NodeView&, const KernelOptions&) {
  return {};
}

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return make_recurrent_reference(view);
}

constexpr Implementation kImplementations[] = {{"stepwise", refuses_stepwise, make_stepwise_kernel},
                                               {"reference", never_refuses, prepare_reference}};

Layer layer(std::string_view op, std::string_view summary, int max_inputs, int max_outputs) {
  return {.op = op,
          .summary = summary,
          .min_inputs = 3,
          .max_inputs = max_inputs,
          .max_outputs = max_outputs,
          .infer = infer,
          .cost = cost,
          .implementations = kImplementations};
}

}  // namespace

std::span<const Layer> recurrent_layers() {
  static const std::vector<Layer> layers{layer("LSTM", "long short-term memory, one or two directions", 8, 3),
                                         layer("GRU", "gated recurrent unit, one or two directions", 6, 2),
                                         layer("RNN", "simple recurrent layer, one or two directions", 6, 2)};
  return layers;
}

}  // namespace espalier
