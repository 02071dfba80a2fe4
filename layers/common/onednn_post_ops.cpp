#include <algorithm>
#include <fmt/format.h>

#include "layers/common/onednn.hpp"

namespace espalier::onednn {
namespace {

using dnnl::algorithm;

/// Appends a unary activation; false when oneDNN has none of that name.
bool append_activation(dnnl::post_ops& ops, const PostOp& p) {
  const auto eltwise = [&](algorithm a, float alpha = 0, float beta = 0) {
    ops.append_eltwise(1.0F, a, alpha, beta);
    return true;
  };
  if (p.op == "Relu") return eltwise(algorithm::eltwise_relu);
  if (p.op == "LeakyRelu") return eltwise(algorithm::eltwise_relu, p.alpha);
  if (p.op == "Clip") return eltwise(algorithm::eltwise_clip, p.alpha, p.beta);
  if (p.op == "Elu") return eltwise(algorithm::eltwise_elu, p.alpha);
  if (p.op == "Sigmoid") return eltwise(algorithm::eltwise_logistic);
  if (p.op == "Silu") return eltwise(algorithm::eltwise_swish, 1);
  if (p.op == "HardSwish") return eltwise(algorithm::eltwise_hardswish);
  if (p.op == "Tanh") return eltwise(algorithm::eltwise_tanh);
  if (p.op == "Mish") return eltwise(algorithm::eltwise_mish);
  if (p.op == "Gelu")
    return eltwise(p.alpha == 1 ? algorithm::eltwise_gelu_tanh : algorithm::eltwise_gelu_erf);
  if (p.op == "HardSigmoid")
    return eltwise(algorithm::eltwise_linear, p.alpha, p.beta) && eltwise(algorithm::eltwise_clip, 0, 1);
  return false;
}

bool is_binary(const PostOp& p) {
  return p.op == "Add" || p.op == "Mul";
}

void append(PostOps& result, const NodeView& view, const dnnl::memory::desc& output, std::size_t begin,
            std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    const PostOp& p = view.node.post_ops[i];
    if (!is_binary(p)) {
      if (!append_activation(result.ops, p))
        result.refused = fmt::format("fused operation {} is not served", p.op);
      continue;
    }
    if (p.input_index < 0 || !view.has_input(static_cast<std::size_t>(p.input_index)) ||
        view.outputs.empty() || *view.inputs[p.input_index] != *view.outputs[0]) {
      result.refused = fmt::format("fused {} of an operand unlike the output", p.op);
      continue;
    }
    result.operands.emplace_back(DNNL_ARG_ATTR_MULTIPLE_POST_OP(result.ops.len()) | DNNL_ARG_SRC_1,
                                 p.input_index);
    result.ops.append_binary(p.op == "Add" ? algorithm::binary_add : algorithm::binary_mul, output);
  }
}

}  // namespace

PostOps post_ops(const NodeView& view, const dnnl::memory::desc& output, bool sum_first) {
  PostOps result;
  if (sum_first) result.ops.append_sum(1.0F);
  append(result, view, output, 0, view.node.post_ops.size());
  return result;
}

std::size_t first_binary(const NodeView& view) {
  const auto& ops = view.node.post_ops;
  return static_cast<std::size_t>(std::find_if(ops.begin(), ops.end(), is_binary) - ops.begin());
}

PostOps post_ops_before(const NodeView& view, const dnnl::memory::desc& output, std::size_t end) {
  PostOps result;
  append(result, view, output, 0, end);
  return result;
}

void append_binaries(Program& program, const NodeView& view, Slot y, std::size_t first) {
  const auto& all = view.node.post_ops;
  const dnnl::memory::desc desc = program.desc(y);
  for (std::size_t i = first; i < all.size();) {
    std::size_t next = i + 1;  // the activations up to the next binary operation are fused into this one
    while (next < all.size() && !is_binary(all[next])) ++next;
    PostOps rest;
    append(rest, view, desc, i + 1, next);
    const auto how = all[i].op == "Add" ? algorithm::binary_add : algorithm::binary_mul;
    const dnnl::binary::primitive_desc pd(dnnl::binary::desc(how, desc, desc, desc), attributes(rest.ops, {}),
                                          cpu());
    program.step(
        dnnl::binary(pd), pd.scratchpad_desc(),
        {{DNNL_ARG_SRC_0, y}, {DNNL_ARG_SRC_1, program.input(all[i].input_index, desc)}, {DNNL_ARG_DST, y}});
    i = next;
  }
}

}  // namespace espalier::onednn
