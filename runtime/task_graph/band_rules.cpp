#include <algorithm>
#include <string_view>

#include "runtime/task_graph/bands.hpp"

namespace espalier {
namespace {

bool one_of(std::string_view op, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), op) != set.end();
}

/// Operators that compute each element from those at the same place of their inputs, broadcast.
bool is_elementwise(std::string_view op) {
  return one_of(op, {"Abs",      "Add",        "Ceil", "Clip",        "Div",       "Elu",      "Erf",
                     "Exp",      "Floor",      "Gelu", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu",
                     "Log",      "Max",        "Min",  "Mish",        "Mul",       "Neg",      "PRelu",
                     "Pow",      "Reciprocal", "Relu", "Selu",        "Sigmoid",   "Silu",     "Softplus",
                     "Softsign", "Sqrt",       "Sub",  "Sum",         "Tanh",      "Where",    "Cast"});
}

bool is_last_axis(const Graph& graph, const Node& node, std::int64_t fallback) {
  const int rank = graph.type(node.inputs[0]).shape.rank();
  const std::int64_t axis = node.attributes.get_int("axis", fallback);
  return axis == -1 || axis == rank - 1;
}

/// The rows of a broadcast input that go with rows of the output; `rank` and `height` are the output's. False
/// when they are not contiguous.
bool broadcast_rows(const Shape& input, int rank, std::int64_t height, RowRange rows,
                    std::optional<RowRange>& needed) {
  const int axis = input.rank() - (rank - 1);  // axis 1 of the output
  if (axis < 0 || input[axis] == 1) return true;
  if (input[axis] != height || input.elements(0, axis) != 1) return false;
  needed = rows;
  return true;
}

/// One spatial axis of a window operator.
struct Window {
  std::int64_t kernel, stride, dilation, pad_before, pad_after;
};

std::int64_t item(const std::vector<std::int64_t>& list, std::size_t i, std::int64_t fallback) {
  return i < list.size() ? list[i] : fallback;
}

/// The window along the rows, and the explicit pads of all axes.
std::optional<Window> row_window(const Graph& graph, const Node& node, std::vector<std::int64_t>& pads) {
  const Attributes& a = node.attributes;
  const Shape& in = graph.type(node.inputs[0]).shape;
  const Shape& out = graph.type(node.outputs[0]).shape;
  const auto spatial = static_cast<std::size_t>(in.rank() - 2);
  const auto strides = a.get_ints("strides"), dilations = a.get_ints("dilations"), given = a.get_ints("pads");
  auto kernel = a.get_ints("kernel_shape");
  const bool pair = node.op == "PointwiseDepthwise";  // the window is the second convolution's
  if (kernel.empty() && (node.op == "Conv" || pair)) {
    const Shape& w = graph.type(node.inputs[pair ? 3 : 1]).shape;
    kernel.assign(w.begin() + 2, w.end());
  }
  if (kernel.size() != spatial) return std::nullopt;
  const std::string mode = a.get_string("auto_pad", "NOTSET");
  pads.assign(2 * spatial, 0);
  for (std::size_t i = 0; i < spatial; ++i) {
    const std::int64_t reach = (kernel[i] - 1) * item(dilations, i, 1) + 1;
    if (mode == "NOTSET") {
      pads[i] = item(given, i, 0);
      pads[i + spatial] = item(given, i + spatial, 0);
    } else if (mode != "VALID") {
      const int axis = static_cast<int>(i) + 1;
      const std::int64_t total =
          std::max<std::int64_t>(0, (out[axis] - 1) * item(strides, i, 1) + reach - in[axis]);
      pads[i] = mode == "SAME_LOWER" ? total - total / 2 : total / 2;
      pads[i + spatial] = total - pads[i];
    }
  }
  if (a.get_int("ceil_mode", 0) != 0) {  // the same windows with explicit pads; an average would count these
    if (node.op != "MaxPool") return std::nullopt;
    for (std::size_t i = 0; i < spatial; ++i) {
      const int axis = static_cast<int>(i) + 1;
      const std::int64_t reach = (kernel[i] - 1) * item(dilations, i, 1) + 1;
      const std::int64_t missing = (out[axis] - 1) * item(strides, i, 1) + reach - in[axis] - pads[i];
      pads[i + spatial] = std::max<std::int64_t>(missing, 0);
      if (pads[i + spatial] >= reach) return std::nullopt;
    }
  }
  return Window{kernel[0], item(strides, 0, 1), item(dilations, 0, 1), pads[0], pads[spatial]};
}

std::optional<BandOfNode> window_band(const Graph& graph, const Node& node, RowRange rows) {
  std::vector<std::int64_t> pads;
  const auto window = row_window(graph, node, pads);
  if (!window) return std::nullopt;
  const std::int64_t height = graph.type(node.inputs[0]).shape[1];
  const std::int64_t first = rows.begin * window->stride - window->pad_before;
  const std::int64_t last =
      (rows.end - 1) * window->stride - window->pad_before + (window->kernel - 1) * window->dilation;
  const RowRange needed{std::max<std::int64_t>(first, 0), std::min(last + 1, height)};
  if (needed.begin >= needed.end) return std::nullopt;
  BandOfNode band;
  band.inputs.resize(node.inputs.size());
  band.inputs[0] = needed;
  band.attributes = node.attributes;
  band.attributes.erase("auto_pad");
  band.attributes.erase("ceil_mode");
  pads[0] = needed.begin - first;
  pads[pads.size() / 2] = last + 1 - needed.end;
  band.attributes.set("pads", pads);
  return band;
}

/// Axis 1 of a product is its rows, or a batch axis whose matrices lie one behind the other.
std::optional<BandOfNode> matmul_band(const Graph& graph, const Node& node, RowRange rows) {
  const Shape& out = graph.type(node.outputs[0]).shape;
  const Shape& a = graph.type(node.inputs[0]).shape;
  const Shape& b = graph.type(node.inputs[1]).shape;
  if (a.rank() < 2 || b.rank() < 2) return std::nullopt;
  BandOfNode band;
  band.attributes = node.attributes;
  band.inputs.resize(node.inputs.size());
  if (!broadcast_rows(a, out.rank(), out[1], rows, band.inputs[0])) return std::nullopt;
  if (out.rank() > 3 && !broadcast_rows(b, out.rank(), out[1], rows, band.inputs[1])) return std::nullopt;
  return band;
}

/// Rows of a transposed tensor come from all of the input: they lie apart there.
BandOfNode transpose_band(const Node& node, RowRange rows) {
  BandOfNode band;
  band.op = "TransposeRows";
  band.inputs.resize(node.inputs.size());
  band.attributes = node.attributes;
  band.attributes.set("rows", std::vector<std::int64_t>{rows.begin, rows.end});
  return band;
}

}  // namespace

std::optional<BandOfNode> band_of_node(const Graph& graph, const Node& node, RowRange rows) {
  if (node.outputs.size() != 1 || node.outputs[0] == kAbsent || node.inputs.empty() ||
      node.inputs[0] == kAbsent)
    return std::nullopt;
  const Shape& out = graph.type(node.outputs[0]).shape;
  const Shape& in = graph.type(node.inputs[0]).shape;
  if (out.rank() < 3 || out[0] != 1) return std::nullopt;
  std::optional<BandOfNode> band;
  if (one_of(node.op, {"Conv", "PointwiseDepthwise", "MaxPool", "AveragePool"})) {
    if (in.rank() != out.rank() || in[0] != 1) return std::nullopt;
    band = window_band(graph, node, rows);
  } else if (node.op == "Transpose") {
    band = transpose_band(node, rows);
  } else if (node.op == "MatMul") {
    band = matmul_band(graph, node, rows);
  } else {
    const bool by_channel =
        one_of(node.op, {"BatchNormalization", "LRN"}) ||
        (one_of(node.op, {"Softmax", "LogSoftmax", "LayerNormalization"}) && is_last_axis(graph, node, -1)) ||
        (node.op == "Concat" && is_last_axis(graph, node, 0));
    if (!by_channel && !is_elementwise(node.op)) return std::nullopt;
    band.emplace();
    band->attributes = node.attributes;
    band->inputs.resize(node.inputs.size());
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] == kAbsent || (by_channel && i > 0 && node.op != "Concat")) continue;
      const bool is_post = std::any_of(node.post_ops.begin(), node.post_ops.end(),
                                       [&](const PostOp& p) { return p.input_index == static_cast<int>(i); });
      if (!is_post &&
          !broadcast_rows(graph.type(node.inputs[i]).shape, out.rank(), out[1], rows, band->inputs[i]))
        return std::nullopt;
    }
  }
  if (!band) return std::nullopt;
  for (const PostOp& p : node.post_ops) {
    if (p.input_index < 0) continue;
    const auto i = static_cast<std::size_t>(p.input_index);
    if (!broadcast_rows(graph.type(node.inputs[i]).shape, out.rank(), out[1], rows, band->inputs[i]))
      return std::nullopt;
  }
  // a range of a constant would have to be cut out of it
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (band->inputs[i] && graph.constant(node.inputs[i]) != nullptr) return std::nullopt;
  return band;
}

}  // namespace espalier
