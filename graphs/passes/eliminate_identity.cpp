#include "graphs/passes/eliminate_identity.hpp"

#include <algorithm>
#include <string_view>

namespace espalier {
namespace {

template <std::size_t N>
bool is_one_of(std::string_view op, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), op) != std::end(list);
}

/// Keeps every element in row-major order whenever the shape stays.
constexpr std::string_view kReshaping[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze"};
/// Passes its input on when the output's shape is the same.
constexpr std::string_view kSameShape[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Expand", "Tile"};
/// Of one input alone.
constexpr std::string_view kVariadic[] = {"Concat", "Sum", "Max", "Min", "Mean"};

bool transposes_nothing(const Node& node) {
  const auto perm = node.attributes.get_ints("perm");
  return !perm.empty() && std::is_sorted(perm.begin(), perm.end());
}

/// x + 0, x - 0, x * 1, x / 1: the input that passes through, or -1.
int neutral_operand(const Editor& editor, const Node& node) {
  if (node.inputs.size() != 2) return -1;
  const bool sum = node.op == "Add" || node.op == "Sub";
  if (!sum && node.op != "Mul" && node.op != "Div") return -1;
  const double neutral = sum ? 0 : 1;
  if (editor.scalar(node.inputs[1]) == neutral) return 0;
  if ((node.op == "Add" || node.op == "Mul") && editor.scalar(node.inputs[0]) == neutral) return 1;
  return -1;
}

bool all_of_constant(const Editor& editor, const Node& node, std::size_t input, bool (*test)(std::int64_t)) {
  if (node.inputs.size() <= input || node.inputs[input] == kAbsent) return true;
  const Tensor* t = editor.graph().constant(node.inputs[input]);
  if (t == nullptr) return false;
  const std::vector<std::int64_t> values = t->to_int64();
  return std::all_of(values.begin(), values.end(), test);
}

/// Slice and Pad whose shape stays: only a backward step, or a pad that crops what another one adds, changes
/// anything.
bool moves_nothing(const Editor& editor, const Node& node) {
  if (node.op == "Slice") return all_of_constant(editor, node, 4, [](std::int64_t step) { return step > 0; });
  return node.op == "Pad" && all_of_constant(editor, node, 1, [](std::int64_t pad) { return pad == 0; });
}

/// The input that the node passes on, or -1.
int passed_input(Editor& editor, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kAbsent || node.outputs.size() != 1 || !node.post_ops.empty())
    return -1;
  const Graph& graph = editor.graph();
  const TensorType& out = graph.type(node.outputs[0]);
  if (const int operand = neutral_operand(editor, node); operand >= 0)
    return graph.type(node.inputs[static_cast<std::size_t>(operand)]) == out ? operand : -1;
  if (graph.type(node.inputs[0]) != out) return -1;
  if (node.op == "Identity" || node.op == "Cast" || is_one_of(node.op, kSameShape)) return 0;
  if (is_one_of(node.op, kVariadic) && node.inputs.size() == 1) return 0;
  if (node.op == "Transpose" && transposes_nothing(node)) return 0;
  if (moves_nothing(editor, node)) return 0;
  return -1;
}

}  // namespace

bool eliminate_identity(Editor& editor, std::int32_t i) {
  const Node node = editor.node(i);
  const int input = passed_input(editor, node);
  if (input < 0) return false;
  const ValueId from = node.outputs[0];
  const ValueId to = node.inputs[static_cast<std::size_t>(input)];
  editor.erase(i);
  if (editor.forward(from, to)) return true;
  editor.replace(i, node);
  return false;
}

bool join_reshapes(Editor& editor, std::int32_t i) {
  Node& node = editor.node(i);
  if (!is_one_of(node.op, kReshaping) || !node.post_ops.empty()) return false;
  Graph& graph = editor.graph();
  ValueId source = node.inputs[0];
  const std::int32_t before = editor.producer(source);
  const bool behind = before >= 0 && is_one_of(editor.node(before).op, kReshaping);
  if (node.op == "Reshape" && !behind) return false;
  if (behind) source = editor.node(before).inputs[0];
  const Shape& shape = graph.type(node.outputs[0]).shape;
  if (shape.elements() == 0) return false;  // a 0 in the target would mean "as the input"
  Node reshape;
  reshape.name = node.name;
  reshape.op = "Reshape";
  reshape.outputs = node.outputs;
  std::vector<std::int64_t> dims = shape.dims();
  const Shape& given = graph.type(source).shape;
  if (!dims.empty() && given.rank() > 0 && given[0] == dims[0])
    dims[0] = 0;  // as the input, whatever the batch
  const ValueId target =
      editor.add_constant(node.name + "/shape", Tensor::of<std::int64_t>({shape.rank()}, dims));
  reshape.inputs = {source, target};
  editor.replace(i, std::move(reshape));
  return true;
}

}  // namespace espalier
