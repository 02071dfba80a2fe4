#include "runtime/task_graph/batch_rules.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace espalier {
namespace {

bool one_of(std::string_view op, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), op) != set.end();
}

int axis_attribute(const Graph& graph, const Node& node, std::int64_t fallback) {
  const int rank = graph.type(node.inputs[0]).shape.rank();
  const auto axis = static_cast<int>(node.attributes.get_int("axis", fallback));
  return axis < 0 ? axis + rank : axis;
}

/// These keep the row-major order of the elements.
bool is_reshape(const Node& node) {
  return one_of(node.op, {"Reshape", "Flatten", "Squeeze", "Unsqueeze"});
}

/// Windows, statistics and channel blocks: samples must lie along the outermost axis.
bool wants_batch_first(const Node& node) {
  return one_of(node.op, {"Conv",
                          "ConvTranspose",
                          "MaxPool",
                          "AveragePool",
                          "LpPool",
                          "GlobalAveragePool",
                          "GlobalMaxPool",
                          "GlobalLpPool",
                          "BatchNormalization",
                          "InstanceNormalization",
                          "GroupNormalization",
                          "LRN",
                          "DepthToSpace",
                          "SpaceToDepth",
                          "Resize",
                          "Upsample",
                          "PointwiseDepthwise",
                          "GridSample",
                          "RoiAlign",
                          "MaxUnpool"});
}

/// A Slice that keeps the extent of the batch axis leaves it alone unless it turns the order round.
bool reverses(const Graph& graph, const Node& node, int axis) {
  if (node.inputs.size() < 5 || node.inputs[4] == kAbsent) return false;
  const Tensor* steps = graph.constant(node.inputs[4]);
  if (steps == nullptr) return true;
  const Tensor* axes = node.inputs[3] == kAbsent ? nullptr : graph.constant(node.inputs[3]);
  const auto step = steps->to_double();
  const auto along = axes != nullptr ? axes->to_double() : std::vector<double>{};
  const int rank = graph.type(node.inputs[0]).shape.rank();
  for (std::size_t i = 0; i < step.size(); ++i) {
    const double a = i < along.size() ? along[i] : static_cast<double>(i);
    if (step[i] < 0 && static_cast<int>(a < 0 ? a + rank : a) == axis) return true;
  }
  return false;
}

/// Whether a node computes across samples, or changes their order, although its output still has them all
/// along `axis`.
bool mixes(const Graph& graph, const Node& node, std::span<const SampleAxis> inputs, int axis) {
  const std::string& op = node.op;
  if (one_of(op, {"Softmax", "LogSoftmax", "Hardmax", "TopK", "LpNormalization"}))
    return axis_attribute(graph, node, -1) == axis;
  if (op == "LayerNormalization") return axis_attribute(graph, node, -1) <= axis;
  if (one_of(op, {"LSTM", "GRU", "RNN"})) return inputs[0].axis != 1;
  if (op == "BatchNormalization" && node.attributes.get_int("training_mode", 0) != 0) return true;
  if (op == "Slice") return reverses(graph, node, axis);
  if (op == "Trilu") return axis >= graph.type(node.inputs[0]).shape.rank() - 2;
  // along the batch these permute or select samples, which keeps the extent by accident only
  if (one_of(op, {"Gather", "GatherElements", "ScatterElements"}))
    return inputs[0].axis >= 0 && axis_attribute(graph, node, 0) == inputs[0].axis;
  return one_of(op, {"CumSum", "ReverseSequence", "GatherND", "ScatterND", "Compress", "NonZero", "Unique",
                     "Loop", "Scan", "If", "Einsum", "Det", "MeanVarianceNormalization"});
}

}  // namespace

bool is_shape_operand(const Node& node, std::size_t i) {
  const std::string& op = node.op;
  if (one_of(op, {"Reshape", "Expand", "Tile", "Squeeze", "Unsqueeze", "Split", "Pad"})) return i == 1;
  if (op == "ConstantOfShape") return i == 0;
  if (op == "Slice") return i >= 1;
  if (op == "Resize") return i >= 2;
  return false;
}

std::optional<std::int64_t> rows_of_sample(const Graph& graph, const Node& node,
                                           std::span<const SampleAxis> inputs, ValueId output, int axis,
                                           std::int64_t samples) {
  const Shape& out = graph.type(output).shape;
  if (is_reshape(node)) {
    const Shape& in = graph.type(node.inputs[0]).shape;
    const std::int64_t run = inputs[0].rows * in.elements(inputs[0].axis + 1, in.rank());
    const std::int64_t row = out.elements(axis + 1, out.rank());
    if (row == 0 || run % row != 0 || run == 0 || out[axis] % (samples * (run / row)) != 0)
      return std::nullopt;
    return run / row;
  }
  if (wants_batch_first(node) && (inputs[0].axis != 0 || axis != 0)) return std::nullopt;
  std::int64_t rows = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {  // all inputs lie alike, and the output as they do
    if (inputs[i].axis < 0) continue;
    if (graph.type(node.inputs[i]).shape[inputs[i].axis] != out[axis]) return std::nullopt;
    if (rows != 0 && rows != inputs[i].rows) return std::nullopt;
    rows = inputs[i].rows;
  }
  if (rows == 0 || mixes(graph, node, inputs, axis)) return std::nullopt;
  return rows;
}

bool repeats_for_samples(const Graph& graph, const Node& node, int axis) {
  if (node.op == "ConstantOfShape") return true;
  if (node.op != "Expand") return false;
  const Shape &in = graph.type(node.inputs[0]).shape, &out = graph.type(node.outputs[0]).shape;
  const int own = axis - (out.rank() - in.rank());
  return own < 0 || in[own] == 1;
}

}  // namespace espalier
