#include "graphs/passes/fuse_pointwise_depthwise.hpp"

#include <algorithm>

namespace espalier {
namespace {

/// Bytes of one image's wide tensor from which it is worth not storing it, and those of the 1x1 weight up to
/// which it can be read again for every row.
constexpr std::int64_t kWideBytes = 550'000, kWeightBytes = 130'000;

bool only_activations(const Node& node) {
  return std::all_of(node.post_ops.begin(), node.post_ops.end(),
                     [](const PostOp& p) { return p.input_index < 0 && p.op != "Add" && p.op != "Mul"; });
}

bool all_are(const std::vector<std::int64_t>& values, std::int64_t wanted) {
  return std::all_of(values.begin(), values.end(), [&](std::int64_t v) { return v == wanted; });
}

bool constant_weights(const Graph& graph, const Node& node) {
  for (std::size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kAbsent && graph.constant(node.inputs[i]) == nullptr) return false;
  return node.inputs.size() <= 3;
}

bool is_pointwise(const Graph& graph, const Node& node) {
  const Attributes& a = node.attributes;
  return node.op == "Conv" && a.get_int("group", 1) == 1 && all_are(a.get_ints("strides"), 1) &&
         all_are(a.get_ints("pads"), 0) && graph.type(node.inputs[1]).shape.elements(2, 4) == 1 &&
         node.post_ops.size() <= 1 && only_activations(node) && constant_weights(graph, node);
}

bool is_depthwise(const Graph& graph, const Node& node) {
  if (node.op != "Conv" || graph.type(node.inputs[0]).shape.rank() != 4) return false;
  const Shape& w = graph.type(node.inputs[1]).shape;
  const std::int64_t channels = graph.type(node.inputs[0]).shape[-1];
  return channels > 1 && node.attributes.get_int("group", 1) == channels && w[0] == channels && w[1] == 1 &&
         only_activations(node) && constant_weights(graph, node);
}

}  // namespace

bool fuse_pointwise_depthwise(Editor& editor, std::int32_t i) {
  const Graph& graph = editor.graph();
  if (!is_depthwise(graph, editor.node(i))) return false;
  const ValueId middle = editor.node(i).inputs[0];
  const std::int32_t before = editor.producer(middle);
  if (before < 0 || !editor.single_use(middle) || !is_pointwise(graph, editor.node(before))) return false;
  const TensorType& wide = graph.type(middle);
  if (wide.dtype != DType::f32 || wide.bytes() < kWideBytes * wide.shape[0] ||
      graph.type(editor.node(before).inputs[1]).bytes() > kWeightBytes)
    return false;
  const Node first = editor.node(before);
  Node fused = editor.node(i);
  const auto input = [](const Node& n, std::size_t at) {
    return at < n.inputs.size() ? n.inputs[at] : kAbsent;
  };
  fused.inputs = {first.inputs[0], first.inputs[1], input(first, 2), fused.inputs[1], input(fused, 2)};
  if (fused.inputs.back() == kAbsent) fused.inputs.pop_back();
  fused.op = "PointwiseDepthwise";
  if (!first.post_ops.empty()) {
    fused.attributes.set("activation", first.post_ops[0].op);
    fused.attributes.set("activation_alpha", double(first.post_ops[0].alpha));
    fused.attributes.set("activation_beta", double(first.post_ops[0].beta));
  }
  const Layer* layer = editor.layers().find(fused.op);
  if (layer == nullptr) return false;
  editor.replace(i, std::move(fused));
  editor.erase(before);
  return true;
}

}  // namespace espalier
