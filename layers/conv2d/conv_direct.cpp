#include "layers/conv2d/conv_direct.hpp"

#include <fmt/format.h>
#include <numeric>

#include "graphs/base/error.hpp"
#include "layers/common/onednn.hpp"
#include "layers/conv2d/conv_shape.hpp"

namespace espalier {
namespace {

using dnnl::memory;

struct Descriptors {
  memory::desc x, weight, bias, y;    ///< as they are given
  memory::desc compute_x, compute_w;  ///< as the primitive takes them, the weight in any layout
  memory::dims strides, dilations, pad_begin, pad_end;
};

/// Weight as [G, M/G, C/G, k...] (without G for one group), over ONNX's memory order.
memory::desc weight_desc(const ConvShape& s, bool transposed) {
  memory::dims dims;
  if (s.groups > 1) dims.push_back(s.groups);
  dims.push_back(s.filters_per_group());
  dims.push_back(s.channels_per_group());
  for (std::int64_t k : s.window.tail(s.window.kernel)) dims.push_back(k);
  std::vector<int> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  const int at = s.groups > 1 ? 1 : 0;
  if (transposed) std::swap(order[at], order[at + 1]);
  return onednn::ordered(DType::f32, dims, order);
}

Descriptors describe(const NodeView& view, const ConvShape& s, bool transposed, DType compute) {
  const Window& w = s.window;
  Descriptors d;
  d.x = onednn::channels_last(*view.inputs[0]);
  d.weight = weight_desc(s, transposed);
  d.compute_x = onednn::channels_last({compute, view.inputs[0]->shape});
  d.compute_w = {d.weight.dims(), onednn::data_type(compute), memory::format_tag::any};
  if (view.has_input(2)) d.bias = onednn::row_major(DType::f32, {s.filters});
  d.y = onednn::channels_last({DType::f32, window_output(w, s.batch, s.filters)});
  d.strides = w.tail(w.stride);
  d.dilations = w.tail(w.dilation);
  for (auto& e : d.dilations) --e;
  d.pad_begin = w.tail(w.pad_begin);
  d.pad_end = w.tail(w.pad_end);
  for (int i = 3 - w.rank; i < 3 && !transposed; ++i)  // what the last window leaves over is not padding
    d.pad_end[i - 3 + w.rank] = (w.out[i] - 1) * w.stride[i] + w.reach(i) - w.in[i] - w.pad_begin[i];
  return d;
}

dnnl::convolution_forward::primitive_desc conv_primitive(const Descriptors& d,
                                                         const dnnl::primitive_attr& attr) {
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto how = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::desc op(kind, how, d.compute_x, d.compute_w, d.bias, d.y, d.strides,
                                           d.dilations, d.pad_begin, d.pad_end);
  return {op, attr, onednn::cpu(), true};
}

dnnl::deconvolution_forward::primitive_desc transpose_primitive(const Descriptors& d,
                                                                const dnnl::primitive_attr& attr) {
  const auto kind = dnnl::prop_kind::forward_inference;
  const auto how = dnnl::algorithm::deconvolution_direct;
  const dnnl::deconvolution_forward::desc op(kind, how, d.compute_x, d.compute_w, d.bias, d.y, d.strides,
                                             d.dilations, d.pad_begin, d.pad_end);
  return {op, attr, onednn::cpu(), true};
}

/// oneDNN 2.6's convolution by im2col and gemm takes the wrong elements of a second operand on channels-last
/// data.
template <class PrimitiveDesc>
bool misreads_operands(const PrimitiveDesc& pd) {
  return std::string_view(pd.impl_info_str()).find("gemm") != std::string_view::npos;
}

template <class MakePrimitive>
std::string refuses(const NodeView& view, const KernelOptions& options, const ConvShape& s, bool transposed,
                    DType compute, MakePrimitive make) {
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  if (s.empty()) return "an extent is 0";
  const Descriptors d = describe(view, s, transposed, compute);
  const auto post = onednn::post_ops(view, d.y);
  if (!post.refused.empty()) return post.refused;
  try {
    if (make(d, onednn::attributes(post.ops, options))) return {};
  } catch (const dnnl::error& e) {
    return fmt::format("oneDNN: {}", e.what());
  }
  return "oneDNN has no implementation for these extents";
}

template <class MakePrimitive>
std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext& context, const ConvShape& s,
                                bool transposed, DType compute, MakePrimitive make) {
  const Descriptors d = describe(view, s, transposed, compute);
  auto post = onednn::post_ops(view, d.y);
  auto pd = make(d, onednn::attributes(post.ops, context.options));
  std::size_t fused = view.node.post_ops.size();
  if (!post.operands.empty() && misreads_operands(pd)) {
    fused = onednn::first_binary(view);
    post = onednn::post_ops_before(view, d.y, fused);
    pd = make(d, onednn::attributes(post.ops, context.options));
  }
  onednn::Program program;
  const onednn::Slot y = program.output(0, d.y);
  std::vector<std::pair<int, onednn::Slot>> arguments{
      {DNNL_ARG_SRC, program.reordered(program.input(0, d.x), d.compute_x)}, {DNNL_ARG_DST, y}};
  if (const Tensor* constant = view.constants[1])
    arguments.emplace_back(DNNL_ARG_WEIGHTS, program.constant(onednn::pack(context.weights, *constant,
                                                                           d.weight, pd.weights_desc()),
                                                              pd.weights_desc()));
  else
    arguments.emplace_back(DNNL_ARG_WEIGHTS,
                           program.reordered(program.input(1, d.weight), pd.weights_desc()));
  if (view.has_input(2)) arguments.emplace_back(DNNL_ARG_BIAS, program.input(2, d.bias));
  for (auto [argument, index] : post.operands) arguments.emplace_back(argument, program.input(index, d.y));
  using Primitive = std::conditional_t<std::is_same_v<MakePrimitive, decltype(&conv_primitive)>,
                                       dnnl::convolution_forward, dnnl::deconvolution_forward>;
  program.step(Primitive(pd), pd.scratchpad_desc(), arguments);
  onednn::append_binaries(program, view, y, fused);
  return std::make_unique<onednn::ProgramKernel>(std::move(program));
}

}  // namespace

std::string conv_direct_refuses(const NodeView& view, const KernelOptions& options) {
  return refuses(view, options, conv_shape(view), false, DType::f32, conv_primitive);
}

std::unique_ptr<Kernel> prepare_conv_direct(const NodeView& view, PrepareContext& context) {
  return prepare(view, context, conv_shape(view), false, DType::f32, &conv_primitive);
}

std::string conv_bf16_refuses(const NodeView& view, const KernelOptions& options) {
  if (!options.allow_bf16) return "bfloat16 is not allowed";
  if (!onednn::has_bf16()) return "the processor has no bfloat16 instructions";
  const ConvShape s = conv_shape(view);
  if (s.depthwise()) return "depthwise: bound by memory, conversion costs more than it gains";
  return refuses(view, options, s, false, DType::bf16, conv_primitive);
}

std::unique_ptr<Kernel> prepare_conv_bf16(const NodeView& view, PrepareContext& context) {
  return prepare(view, context, conv_shape(view), false, DType::bf16, &conv_primitive);
}

std::string conv_transpose_direct_refuses(const NodeView& view, const KernelOptions& options) {
  return refuses(view, options, conv_transpose_shape(view), true, DType::f32, transpose_primitive);
}

std::unique_ptr<Kernel> prepare_conv_transpose_direct(const NodeView& view, PrepareContext& context) {
  return prepare(view, context, conv_transpose_shape(view), true, DType::f32, &transpose_primitive);
}

}  // namespace espalier
