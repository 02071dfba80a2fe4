#include "runtime/perfmodel/fitted/kernel_calls.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/perfmodel/fitted/node_signature.hpp"

namespace espalier::fitted {
namespace {

enum class Direction { forward, input, weight };

/// The direction that ends the codelet's name.
std::optional<Direction> direction_of(std::string_view codelet) {
  if (codelet.ends_with("_backward_input")) return Direction::input;
  if (codelet.ends_with("_backward_weight")) return Direction::weight;
  if (codelet.ends_with("_forward")) return Direction::forward;
  return std::nullopt;
}

bool is_float32(const SignatureTensor& t, std::size_t rank) {
  return t.type == "float32" && t.extents.size() == rank &&
         std::all_of(t.extents.begin(), t.extents.end(), [](double e) { return e >= 1; });
}

/// Pad on each side that makes `out` positions of a filter of `reach` taps; may be a half.
double pad_for(double in, double out, double reach, double stride) {
  return std::max(0.0, ((out - 1) * stride + reach - in) / 2);
}

/// Activations [N, H, W, C], weights [K, C, R, S]; one axis is taken as W. `wide` is the side that the filter
/// is moved over: the input of a convolution, the output of a transposed one.
std::optional<Problem> convolution(const SignatureTensor& wide, const SignatureTensor& narrow,
                                   const SignatureTensor& weight, const NodeSignature& node) {
  const std::size_t rank = weight.extents.size(), axes = rank - 2;
  const std::vector<double> ones(axes, 1);
  const auto stride = node.numbers("strides", ones), dilation = node.numbers("dilations", ones);
  if (stride.size() != axes || dilation.size() != axes ||
      node.numbers("group", {1}) != std::vector<double>{1})
    return std::nullopt;
  const double k = weight.extents[0], c = weight.extents[1];
  if (wide.extents.back() != c || narrow.extents.back() != k || wide.extents[0] != narrow.extents[0])
    return std::nullopt;
  Problem p = {1, 1, c, wide.extents[0], k, 1, 1, 0, 0, 1, 1};
  for (std::size_t a = 0; a < axes; ++a) {
    const bool along_w = a + 1 == axes;
    const double taps = weight.extents[2 + a], out = narrow.extents[1 + a];
    if (stride[a] < 1 || dilation[a] < 1) return std::nullopt;
    // taps that are apart read as much as taps side by side: an input that just holds these
    const double in = dilation[a] > 1 ? (out - 1) * stride[a] + taps : wide.extents[1 + a];
    p[along_w ? 0 : 1] = in;
    p[along_w ? 6 : 5] = taps;
    p[along_w ? 8 : 7] = pad_for(in, out, taps, stride[a]);
    p[along_w ? 10 : 9] = stride[a];
  }
  return p;
}

std::optional<KernelCalls> convolution_calls(const NodeSignature& node, Direction direction) {
  if (node.inputs.size() < 2 || node.outputs.empty()) return std::nullopt;
  const SignatureTensor &x = node.inputs[0], &w = node.inputs[1], &y = node.outputs[0];
  const std::size_t rank = w.extents.size();
  if (rank < 3 || rank > 4 || !is_float32(x, rank) || !is_float32(w, rank) || !is_float32(y, rank))
    return std::nullopt;
  const bool transposed = node.op == "ConvTranspose";
  auto problem = transposed ? convolution(y, x, w, node) : convolution(x, y, w, node);
  if (!problem) return std::nullopt;
  double& split = (*problem)[transposed ? 2 : 4];  // the channels of the output
  split = std::max(1.0, std::round(split / node.parts));
  // a transposed convolution forwards as the other goes back to its input
  KernelKind kind = KernelKind::conv_backward_weight;
  if (direction != Direction::weight)
    kind = (direction == Direction::forward) != transposed ? KernelKind::conv_forward
                                                           : KernelKind::conv_backward_input;
  if (!is_possible(kind, *problem)) return std::nullopt;
  return KernelCalls{{{kind, *problem, 1}}, false};
}

/// y[rows, outs] = x[rows, ins] w. In the column-major order of the measurements y' = w' x': M are the
/// outs, N the rows. `plain`: w is stored [ins, outs].
KernelCall product(double rows, double ins, double outs, bool plain, Direction direction) {
  switch (direction) {
    case Direction::forward:
      return {KernelKind::gemm, {outs, rows, ins, plain ? 0.0 : 1.0, 0}, 1};
    case Direction::input:
      return {KernelKind::gemm, {ins, rows, outs, plain ? 1.0 : 0.0, 0}, 1};
    case Direction::weight:
      break;
  }
  return plain ? KernelCall{KernelKind::gemm, {outs, ins, rows, 0, 1}, 1}
               : KernelCall{KernelKind::gemm, {ins, outs, rows, 0, 1}, 1};
}

std::optional<KernelCalls> product_calls(const NodeSignature& node, Direction direction) {
  if (node.inputs.size() < 2 || node.outputs.empty()) return std::nullopt;
  const SignatureTensor &a = node.inputs[0], &b = node.inputs[1], &y = node.outputs[0];
  const std::size_t ra = a.extents.size(), rb = b.extents.size();
  if (ra < 2 || rb < 2 || !is_float32(a, ra) || !is_float32(b, rb) || !is_float32(y, y.extents.size()) ||
      y.extents.size() < 2)
    return std::nullopt;
  const bool gemm = node.op == "Gemm";
  if (gemm && node.numbers("transA", {0})[0] != 0) return std::nullopt;
  const bool plain = !gemm || node.numbers("transB", {0})[0] == 0;
  const double outs = b.extents[plain ? rb - 1 : rb - 2], ins = b.extents[plain ? rb - 2 : rb - 1];
  if (y.extents.back() != outs || a.extents.back() != ins) return std::nullopt;
  double rows = 1;
  for (std::size_t i = 0; i + 1 < y.extents.size(); ++i) rows *= y.extents[i];
  const double own = std::max(1.0, std::round(outs / node.parts));
  bool batched = false;  // another b for each of some rows
  for (std::size_t i = 0; i + 2 < rb; ++i) batched = batched || b.extents[i] != 1;
  const KernelCall call = product(rows, ins, own, plain, direction);
  if (!is_possible(call.kind, call.problem)) return std::nullopt;
  return KernelCalls{{call}, batched};
}

/// The measured layers have an input as wide as the hidden state; another width changes the one product of
/// all steps' inputs. Measured backwards are those to the data; that of the weights is a product over all
/// steps.
std::optional<KernelCalls> recurrent_calls(const NodeSignature& node, Direction direction) {
  if (node.inputs.size() < 3 || node.numbers("layout", {0})[0] != 0) return std::nullopt;
  const SignatureTensor &x = node.inputs[0], &w = node.inputs[1], &r = node.inputs[2];
  if (!is_float32(x, 3) || !is_float32(w, 3) || !is_float32(r, 3)) return std::nullopt;
  const double kind = node.op == "LSTM" ? 1 : node.op == "GRU" ? 2 : 0;
  const double gates = node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1;
  const double steps = x.extents[0], batch = x.extents[1], ins = x.extents[2];
  const double directions = w.extents[0], hidden = r.extents[2];
  if (w.extents[1] != gates * hidden || w.extents[2] != ins || r.extents[1] != gates * hidden)
    return std::nullopt;
  KernelCalls out;
  out.composed = ins != hidden;
  const auto inputs = [&](double width) {
    return product(batch * steps, width, gates * hidden, false, direction);
  };
  if (direction == Direction::weight) {
    out.calls = {inputs(ins), inputs(hidden)};
  } else {
    const KernelKind layer =
        direction == Direction::forward ? KernelKind::recurrent_forward : KernelKind::recurrent_backward;
    out.calls = {{layer, {kind, hidden, batch, steps}, 1}};
    if (ins != hidden) {
      out.calls.push_back(inputs(ins));
      out.calls.push_back(inputs(hidden));
      out.calls.back().times = -1;
    }
  }
  for (KernelCall& c : out.calls) {
    if (!is_possible(c.kind, c.problem)) return std::nullopt;
    c.times *= directions;
  }
  return out;
}

}  // namespace

std::optional<KernelCalls> kernel_calls(const std::string& codelet, const std::string& signature) {
  const auto direction = direction_of(codelet);
  if (!direction) return std::nullopt;
  const auto node = parse_signature(signature);
  if (!node) return std::nullopt;
  if (node->op == "Conv" || node->op == "ConvTranspose") return convolution_calls(*node, *direction);
  if (node->op == "Gemm" || node->op == "MatMul") return product_calls(*node, *direction);
  if (node->op == "LSTM" || node->op == "GRU" || node->op == "RNN") return recurrent_calls(*node, *direction);
  return std::nullopt;
}

}  // namespace espalier::fitted
