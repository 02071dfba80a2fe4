#include "graphs/onnx/canonicalise.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

/// One node on its way into the graph, and what the rewrites need.
struct Rewrite {
  Graph& graph;
  Node node;
  int opset;

  bool has_input(std::size_t i) const { return i < node.inputs.size() && node.inputs[i] != kAbsent; }
  bool has_output(std::size_t i) const { return i < node.outputs.size() && node.outputs[i] != kAbsent; }

  void set_input(std::size_t i, ValueId v) {
    if (node.inputs.size() <= i) node.inputs.resize(i + 1, kAbsent);
    node.inputs[i] = v;
  }
  ValueId constant(const std::string& what, Tensor tensor) {
    return graph.add_constant(node.name + "/" + what, std::move(tensor));
  }
  ValueId constant_ints(const std::string& what, const std::vector<std::int64_t>& values) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    return constant(what, Tensor::of<std::int64_t>(shape, values));
  }
  /// Moves a list of integers from an attribute to an input; nothing when the file has no such attribute.
  void ints_to_input(const std::string& name, std::size_t i) {
    if (!node.attributes.has(name)) return;
    set_input(i, constant_ints(name, node.attributes.get_ints(name)));
    node.attributes.erase(name);
  }
  void float_to_input(const std::string& name, std::size_t i) {
    if (!node.attributes.has(name)) return;
    set_input(i, constant(name, Tensor::scalar(static_cast<float>(node.attributes.get_float(name, 0)))));
    node.attributes.erase(name);
  }
  /// A node in front of or behind this one with one new output.
  ValueId emit(std::string op, const std::string& suffix, std::vector<ValueId> inputs,
               Attributes attributes = {}) {
    const std::string name = node.name + "/" + suffix;
    return graph.add_node(std::move(op), name, std::move(inputs), {name}, std::move(attributes)).outputs[0];
  }
  void emit_into(ValueId output, std::string op, std::vector<ValueId> inputs, Attributes attributes = {}) {
    graph.nodes.push_back(
        {node.name, std::move(op), std::move(attributes), std::move(inputs), {output}, {}, {}});
  }
  void keep() { graph.nodes.push_back(std::move(node)); }
};

void rewrite_axes(Rewrite& r) {
  if (r.opset < 13) r.ints_to_input("axes", 1);
  r.keep();
}

void rewrite_reduce(Rewrite& r) {
  if (r.opset < 18) r.ints_to_input("axes", 1);
  r.keep();
}

void rewrite_split(Rewrite& r) {
  if (r.opset < 13) r.ints_to_input("split", 1);
  if (!r.has_input(1) && !r.node.attributes.has("num_outputs"))
    r.node.attributes.set("num_outputs", static_cast<std::int64_t>(r.node.outputs.size()));
  r.keep();
}

void rewrite_pad(Rewrite& r) {
  if (r.opset < 11) {
    r.ints_to_input("pads", 1);
    r.float_to_input("value", 2);
  }
  r.keep();
}

void rewrite_clip(Rewrite& r) {
  if (r.opset < 11) {
    r.float_to_input("min", 1);
    r.float_to_input("max", 2);
  }
  r.keep();
}

void rewrite_slice(Rewrite& r) {
  if (r.opset < 10) {
    r.ints_to_input("starts", 1);
    r.ints_to_input("ends", 2);
    r.ints_to_input("axes", 3);
  }
  r.keep();
}

void rewrite_top_k(Rewrite& r) {
  if (r.opset < 10) {
    r.set_input(1, r.constant_ints("k", {r.node.attributes.get_int("k")}));
    r.node.attributes.erase("k");
  }
  r.keep();
}

/// Dropout at inference passes its input on; the mask keeps everything.
void rewrite_dropout(Rewrite& r) {
  if (r.has_input(2)) {
    const Tensor* training = r.graph.constant(r.node.inputs[2]);
    if (training == nullptr || training->elements() != 1 || training->to_int64()[0] != 0)
      throw InputError("dropout in training mode is random; export the model for inference");
  }
  if (r.has_output(1)) {
    Attributes ones;
    if (r.opset < 10)
      ones.set("value", Tensor::of<float>({1}, std::array{1.0F}));
    else
      ones.set("value", Tensor::of<bool>({1}, std::array{true}));
    const ValueId shape = r.emit("Shape", "shape", {r.node.inputs[0]});
    r.graph.nodes.push_back(
        {r.node.name + "/mask", "ConstantOfShape", std::move(ones), {shape}, {r.node.outputs[1]}, {}, {}});
  }
  if (r.has_output(0)) r.emit_into(r.node.outputs[0], "Identity", {r.node.inputs[0]});
}

/// Upsample and Resize of opset 10 place sample i of the output at i / scale of the input.
void set_asymmetric(Attributes& attributes) {
  attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  attributes.set("nearest_mode", std::string("floor"));
  if (attributes.get_string("mode", "nearest") == "bilinear") attributes.set("mode", std::string("linear"));
}

void rewrite_upsample(Rewrite& r) {
  ValueId scales = r.has_input(1) ? r.node.inputs[1] : kAbsent;
  if (r.node.attributes.has("scales")) {
    const std::vector<double> values = r.node.attributes.get_floats("scales");
    const std::vector<float> floats(values.begin(), values.end());
    scales = r.constant("scales", Tensor::of<float>({static_cast<std::int64_t>(floats.size())}, floats));
    r.node.attributes.erase("scales");
  }
  if (scales == kAbsent) throw InputError("scales are missing");
  set_asymmetric(r.node.attributes);
  r.node.op = "Resize";
  r.node.inputs = {r.node.inputs[0], kAbsent, scales};
  r.keep();
}

void rewrite_resize(Rewrite& r) {
  if (r.opset < 11) {
    if (!r.has_input(1)) throw InputError("scales are missing");
    set_asymmetric(r.node.attributes);
    r.node.inputs = {r.node.inputs[0], kAbsent, r.node.inputs[1]};
  }
  for (std::size_t i : {1, 2})  // opset 11 writes an empty tensor where later ones leave the input out
    if (r.has_input(i))
      if (const Tensor* t = r.graph.constant(r.node.inputs[i]); t != nullptr && t->elements() == 0)
        r.node.inputs[i] = kAbsent;
  r.keep();
}

/// Before opset 13 Softmax worked on the input flattened to two axes at `axis`.
void rewrite_softmax(Rewrite& r) {
  const std::int64_t axis = r.node.attributes.get_int("axis", 1);
  if (r.opset >= 13 || axis == -1) {
    if (r.opset < 13) r.node.attributes.set("axis", std::int64_t{-1});
    return r.keep();
  }
  Attributes flatten;
  flatten.set("axis", axis);
  const ValueId shape = r.emit("Shape", "shape", {r.node.inputs[0]});
  const ValueId flat = r.emit("Flatten", "flatten", {r.node.inputs[0]}, flatten);
  Attributes last;
  last.set("axis", std::int64_t{-1});
  const ValueId result = r.emit(r.node.op, "rows", {flat}, last);
  r.emit_into(r.node.outputs[0], "Reshape", {result, shape});
}

void rewrite_batch_norm(Rewrite& r) {
  if (r.node.attributes.get_int("spatial", 1) != 1)
    throw InputError("spatial = 0 (statistics for each pixel) is not supported");
  r.node.attributes.erase("spatial");
  r.node.attributes.erase("is_test");
  if (r.opset < 14)
    for (std::size_t i = 1; i < r.node.outputs.size(); ++i)
      if (r.has_output(i))
        throw InputError(
            "batch normalization in training mode (more than one output) is not supported before opset 14");
  r.keep();
}

/// Opset 6 aligns the second operand at `axis` of the first one, later opsets at the last axis. What that
/// means depends on ranks that are known when the graph is bound (graphs/README.md).
void rewrite_arithmetic(Rewrite& r) {
  Attributes& a = r.node.attributes;
  if (r.opset < 7 && a.get_int("broadcast", 0) != 0 && a.has("axis") && r.has_input(1))
    a.set("broadcast_axis", a.get_int("axis"));
  a.erase("broadcast");
  a.erase("axis");
  a.erase("consumed_inputs");
  r.keep();
}

/// Opset 6: one slope for each channel, axis 1.
void rewrite_prelu(Rewrite& r) {
  if (r.opset < 7) r.node.attributes.set("broadcast_axis", std::int64_t{1});
  r.keep();
}

void rewrite_scatter(Rewrite& r) {
  r.node.op = "ScatterElements";
  r.keep();
}

/// Before opset 11 Gemm and others had attributes that now go without saying.
void rewrite_gemm(Rewrite& r) {
  r.node.attributes.erase("broadcast");
  r.keep();
}

void refuse_control_flow(Rewrite&) {
  throw InputError(
      "control flow is not supported, except an If whose condition is known when the graph is bound");
}

void rewrite_if(Rewrite& r) {
  r.keep();
}

/// Operators that mean the same in every opset up to 18, but for the types they take.
constexpr std::string_view kNeverChanged[] = {
    "Abs",           "Ceil",       "Constant", "Exp",   "Floor",    "GlobalAveragePool",
    "GlobalMaxPool", "Identity",   "LRN",      "Log",   "MatMul",   "Neg",
    "Not",           "Reciprocal", "Relu",     "Shape", "Sigmoid",  "Size",
    "Softplus",      "Softsign",   "Sqrt",     "Tanh",  "Transpose"};

struct Rule {
  std::string_view op;
  void (*rewrite)(Rewrite&);
};

constexpr Rule kRules[] = {
    {"Add", rewrite_arithmetic},
    {"And", rewrite_arithmetic},
    {"BatchNormalization", rewrite_batch_norm},
    {"Clip", rewrite_clip},
    {"Div", rewrite_arithmetic},
    {"Dropout", rewrite_dropout},
    {"Equal", rewrite_arithmetic},
    {"Gemm", rewrite_gemm},
    {"Greater", rewrite_arithmetic},
    {"Hardmax", rewrite_softmax},
    {"If", rewrite_if},
    {"Less", rewrite_arithmetic},
    {"LogSoftmax", rewrite_softmax},
    {"Loop", refuse_control_flow},
    {"Mul", rewrite_arithmetic},
    {"Or", rewrite_arithmetic},
    {"Pad", rewrite_pad},
    {"Pow", rewrite_arithmetic},
    {"ReduceL1", rewrite_reduce},
    {"ReduceL2", rewrite_reduce},
    {"ReduceLogSum", rewrite_reduce},
    {"ReduceLogSumExp", rewrite_reduce},
    {"ReduceMax", rewrite_reduce},
    {"ReduceMean", rewrite_reduce},
    {"ReduceMin", rewrite_reduce},
    {"ReduceProd", rewrite_reduce},
    {"ReduceSum", rewrite_axes},
    {"ReduceSumSquare", rewrite_reduce},
    {"Resize", rewrite_resize},
    {"Scan", refuse_control_flow},
    {"Scatter", rewrite_scatter},
    {"SequenceMap", refuse_control_flow},
    {"Slice", rewrite_slice},
    {"PRelu", rewrite_prelu},
    {"Softmax", rewrite_softmax},
    {"Split", rewrite_split},
    {"Squeeze", rewrite_axes},
    {"Sub", rewrite_arithmetic},
    {"TopK", rewrite_top_k},
    {"Unsqueeze", rewrite_axes},
    {"Upsample", rewrite_upsample},
    {"Xor", rewrite_arithmetic},
};

}  // namespace

void append_canonical(Graph& graph, Node node, int opset) {
  while (!node.inputs.empty() && node.inputs.back() == kAbsent) node.inputs.pop_back();
  if (opset < kOldestOpset - 1 &&
      std::find(std::begin(kNeverChanged), std::end(kNeverChanged), node.op) == std::end(kNeverChanged))
    throw InputError(
        fmt::format("opset {} is not supported; accepted are {} to {}", opset, kOldestOpset, kNewestOpset));
  const auto rule =
      std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) { return r.op == node.op; });
  Rewrite rewrite{graph, std::move(node), opset};
  if (rule == std::end(kRules)) return rewrite.keep();
  const bool refused = rule->rewrite == refuse_control_flow;
  if (!refused &&
      (rewrite.node.inputs.empty() || rewrite.node.inputs[0] == kAbsent || rewrite.node.outputs.empty()))
    throw InputError("the first input or output is missing");
  rule->rewrite(rewrite);
}

}  // namespace espalier
