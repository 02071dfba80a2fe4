#include "graphs/passes/fuse_activation.hpp"

#include <limits>

namespace espalier {
namespace {

PostOp simple(const Node& node, double alpha, double beta) {
  PostOp op;
  op.op = node.op;
  op.alpha = static_cast<float>(node.attributes.get_float("alpha", alpha));
  op.beta = static_cast<float>(node.attributes.get_float("beta", beta));
  return op;
}

/// Bounds that are left out are infinite; one that is not constant cannot be fused.
std::optional<PostOp> clip(const Editor& editor, const Node& node) {
  PostOp op{"Clip", -std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity(), -1};
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == kAbsent) continue;
    const auto bound = editor.scalar(node.inputs[i]);
    if (!bound) return std::nullopt;
    (i == 1 ? op.alpha : op.beta) = static_cast<float>(*bound);
  }
  return op;
}

std::optional<PostOp> activation_of(const Editor& editor, const Node& node) {
  if (node.op == "Relu" || node.op == "Sigmoid" || node.op == "Tanh" || node.op == "HardSwish" ||
      node.op == "Silu" || node.op == "Mish")
    return PostOp{node.op, 0, 0, -1};
  if (node.op == "LeakyRelu") return simple(node, 0.01, 0);
  if (node.op == "Elu") return simple(node, 1, 0);
  if (node.op == "HardSigmoid") return simple(node, 0.2, 0.5);
  if (node.op == "Clip") return clip(editor, node);
  if (node.op == "Gelu")
    return PostOp{node.op, node.attributes.get_string("approximate", "none") == "tanh" ? 1.0F : 0.0F, 0, -1};
  return std::nullopt;
}

/// Whether the producer of v takes `op` with `operand` (or kAbsent) as one more input; fills in the fused
/// node.
bool try_fuse(Editor& editor, ValueId v, PostOp op, ValueId operand, Node& fused) {
  const std::int32_t before = editor.producer(v);
  if (before < 0 || !editor.single_use(v)) return false;
  fused = editor.node(before);
  const Layer* layer = editor.layers().find(fused.op);
  if (layer == nullptr || layer->can_fuse == nullptr || fused.outputs[0] != v || fused.outputs.size() != 1)
    return false;
  if (operand != kAbsent) {
    while (static_cast<int>(fused.inputs.size()) < layer->max_inputs) fused.inputs.push_back(kAbsent);
    op.input_index = static_cast<int>(fused.inputs.size());
    fused.inputs.push_back(operand);
  }
  if (!layer->can_fuse(view_of(editor.graph(), fused), op)) return false;
  fused.post_ops.push_back(std::move(op));
  return true;
}

}  // namespace

bool fuse_activation(Editor& editor, std::int32_t i) {
  const Node& node = editor.node(i);
  if (!node.post_ops.empty() || node.outputs.size() != 1) return false;
  const auto op = activation_of(editor, node);
  Node fused;
  if (!op || !try_fuse(editor, node.inputs[0], *op, kAbsent, fused)) return false;
  const std::int32_t before = editor.producer(node.inputs[0]);
  fused.outputs = node.outputs;
  editor.replace(i, std::move(fused));
  editor.erase(before);
  return true;
}

bool fuse_residual_add(Editor& editor, std::int32_t i) {
  const Node& node = editor.node(i);
  if ((node.op != "Add" && node.op != "Mul") || !node.post_ops.empty()) return false;
  const ValueId a = node.inputs[0];
  const ValueId b = node.inputs[1];
  const Graph& graph = editor.graph();
  if (a == b || graph.type(a) != graph.type(b)) return false;
  const bool later = editor.producer(a) > editor.producer(b);
  for (const auto& [own, other] :
       {std::pair(later ? a : b, later ? b : a), std::pair(later ? b : a, later ? a : b)}) {
    Node fused;
    if (!try_fuse(editor, own, PostOp{node.op, 0, 0, -1}, other, fused)) continue;
    const std::int32_t before = editor.producer(own);
    fused.outputs = node.outputs;
    editor.replace(i, std::move(fused));
    editor.erase(before);
    return true;
  }
  return false;
}

}  // namespace espalier
