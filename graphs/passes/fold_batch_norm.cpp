#include "graphs/passes/fold_batch_norm.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {
namespace {

/// y = scale x + shift by channel.
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
};

/// A node with constant float32 weights whose outputs have their channels at the last axis.
struct Weighted {
  std::int32_t index = -1;
  std::int64_t channels = 0;
  std::int64_t group = 1;
  int channel_axis = 0;  ///< of the weights
};

std::optional<Weighted> weighted_producer(const Editor& editor, Graph& graph, ValueId v) {
  Weighted w;
  w.index = editor.producer(v);
  if (w.index < 0 || !editor.single_use(v)) return std::nullopt;
  const Node& node = graph.nodes[static_cast<std::size_t>(w.index)];
  const bool conv = node.op == "Conv" || node.op == "ConvTranspose";
  if ((!conv && node.op != "Gemm" && node.op != "MatMul") || !node.post_ops.empty()) return std::nullopt;
  if (node.inputs.size() < 2) return std::nullopt;
  const Tensor* weights = graph.constant(node.inputs[1]);
  if (weights == nullptr || weights->dtype() != DType::f32) return std::nullopt;
  if (node.inputs.size() > 2 && node.inputs[2] != kAbsent && graph.constant(node.inputs[2]) == nullptr)
    return std::nullopt;
  w.channels = graph.type(v).shape[-1];
  w.group = conv ? node.attributes.get_int("group", 1) : 1;
  if (node.op == "ConvTranspose") w.channel_axis = 1;  // [C, M/group, k...]
  if (node.op == "Gemm") w.channel_axis = node.attributes.get_int("transB", 0) != 0 ? 0 : 1;
  if (node.op == "MatMul") {
    if (weights->shape().rank() != 2 || graph.type(node.inputs[0]).shape.rank() < 2) return std::nullopt;
    w.channel_axis = 1;
  }
  return w;
}

/// Weights times scale by output channel. Of a ConvTranspose the channel also depends on the group, which is
/// the block of input channels.
Tensor scaled(const Tensor& weights, const Weighted& w, bool transposed, const std::vector<double>& scale) {
  Tensor out(DType::f32, weights.shape());
  const std::int64_t outer = weights.shape().elements(0, w.channel_axis);
  const std::int64_t extent = weights.shape()[w.channel_axis];
  const std::int64_t inner = weights.shape().elements(w.channel_axis + 1, weights.shape().rank());
  const auto in = weights.as<float>();
  const auto result = out.as_mutable<float>();
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t c = 0; c < extent; ++c) {
      const std::int64_t group = transposed ? o * w.group / outer : 0;
      const double s = scale[static_cast<std::size_t>(group * extent + c)];
      for (std::int64_t k = 0; k < inner; ++k) {
        const std::int64_t at = (o * extent + c) * inner + k;
        result[at] = static_cast<float>(s * in[at]);
      }
    }
  return out;
}

/// The bias of the node by channel with Gemm's beta applied, or nullopt when it has another shape.
std::optional<std::vector<double>> bias_of(const Editor& editor, const Node& node, const Weighted& w) {
  if (node.inputs.size() < 3 || node.inputs[2] == kAbsent)
    return std::vector<double>(static_cast<std::size_t>(w.channels), 0.0);
  const auto bias = editor.channel_vector(node.inputs[2], w.channels);
  if (!bias) return std::nullopt;
  std::vector<double> values = bias->to_double();
  if (node.op == "Gemm")
    for (double& b : values) b *= node.attributes.get_float("beta", 1);
  return values;
}

/// Puts y = scale x + shift into the producer and gives it the outputs of node i.
bool absorb(Editor& editor, std::int32_t i, const Weighted& w, const Affine& affine) {
  Node node = editor.node(w.index);
  auto bias = bias_of(editor, node, w);
  const bool finite =
      std::all_of(affine.scale.begin(), affine.scale.end(), [](double s) { return std::isfinite(s); });
  if (!bias || !finite) return false;
  const bool scales = std::any_of(affine.scale.begin(), affine.scale.end(), [](double s) { return s != 1; });
  if (scales) {
    const Tensor& weights = *editor.graph().constant(node.inputs[1]);
    const std::string name = editor.graph().values[node.inputs[1]].name + "/scaled";
    node.inputs[1] = editor.add_constant(name, scaled(weights, w, node.op == "ConvTranspose", affine.scale));
  }
  std::vector<float> shifted;
  for (std::size_t c = 0; c < bias->size(); ++c)
    shifted.push_back(static_cast<float>(affine.scale[c] * (*bias)[c] + affine.shift[c]));
  node.inputs.resize(2);
  if (node.op == "MatMul" && editor.graph().type(node.inputs[0]).shape.rank() == 2) node.op = "Gemm";
  node.attributes.erase("beta");
  node.inputs.push_back(editor.add_constant(node.name + "/bias", Tensor::of<float>({w.channels}, shifted)));
  node.outputs = editor.node(i).outputs;
  editor.erase(w.index);
  editor.replace(i, std::move(node));
  return true;
}

}  // namespace

bool fold_batch_norm(Editor& editor, std::int32_t i) {
  const Node& node = editor.node(i);
  if (node.op != "BatchNormalization" || !node.post_ops.empty() || node.inputs.size() < 5) return false;
  if (node.outputs.size() != 1 || node.attributes.get_int("training_mode", 0) != 0) return false;
  const auto w = weighted_producer(editor, editor.graph(), node.inputs[0]);
  if (!w) return false;
  std::vector<std::vector<double>> parameters;  // scale, bias, mean, variance
  for (std::size_t k = 1; k < 5; ++k) {
    const auto values = editor.channel_vector(node.inputs[k], w->channels);
    if (!values) return false;
    parameters.push_back(values->to_double());
  }
  const double epsilon = node.attributes.get_float("epsilon", 1e-5);
  Affine affine;
  for (std::size_t c = 0; c < parameters[0].size(); ++c) {
    affine.scale.push_back(parameters[0][c] / std::sqrt(parameters[3][c] + epsilon));
    affine.shift.push_back(parameters[1][c] - affine.scale[c] * parameters[2][c]);
  }
  return absorb(editor, i, *w, affine);
}

bool fuse_bias(Editor& editor, std::int32_t i) {
  const Node& node = editor.node(i);
  const bool add = node.op == "Add";
  if ((!add && node.op != "Mul") || !node.post_ops.empty()) return false;
  for (std::size_t k : {0, 1}) {
    const ValueId v = node.inputs[k];
    const auto w = weighted_producer(editor, editor.graph(), v);
    if (!w || editor.graph().type(v) != editor.graph().type(node.outputs[0])) continue;
    const auto values = editor.channel_vector(node.inputs[1 - k], w->channels);
    if (!values) continue;
    const auto channels = static_cast<std::size_t>(w->channels);
    Affine affine{std::vector<double>(channels, 1.0), std::vector<double>(channels, 0.0)};
    (add ? affine.shift : affine.scale) = values->to_double();
    return absorb(editor, i, *w, affine);
  }
  return false;
}

}  // namespace espalier
