#include "layers/pool/pool_direct.hpp"

#include <fmt/format.h>

#include "layers/common/onednn.hpp"
#include "layers/pool/pool_shape.hpp"

namespace espalier {
namespace {

using dnnl::memory;

dnnl::pooling_v2_forward::primitive_desc make_primitive(const NodeView& view, const PoolShape& s) {
  const Window& w = s.window;
  const auto x = onednn::channels_last(*view.inputs[0]);
  const auto y = onednn::channels_last({DType::f32, window_output(w, s.batch, s.channels)});
  auto how = dnnl::algorithm::pooling_max;
  if (s.kind == PoolKind::average)
    how = s.count_padding ? dnnl::algorithm::pooling_avg_include_padding
                          : dnnl::algorithm::pooling_avg_exclude_padding;
  memory::dims dilation = w.tail(w.dilation);
  for (auto& d : dilation) --d;
  memory::dims pad_end;
  for (int i = 3 - w.rank; i < 3; ++i)
    pad_end.push_back((w.out[i] - 1) * w.stride[i] + w.reach(i) - w.in[i] - w.pad_begin[i]);
  const dnnl::pooling_v2_forward::desc op(dnnl::prop_kind::forward_inference, how, x, y, w.tail(w.stride),
                                          w.tail(w.kernel), dilation, w.tail(w.pad_begin), pad_end);
  return {op, onednn::attributes({}, {}), onednn::cpu(), true};
}

}  // namespace

std::string pool_direct_refuses(const NodeView& view, const KernelOptions&) {
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  const PoolShape s = pool_shape(view);
  if (s.kind == PoolKind::lp) return "oneDNN has no LpPool";
  if (view.node.outputs.size() > 1 && view.node.outputs[1] != kAbsent) return "Indices are not served";
  if (s.batch * s.channels * s.window.in_points() == 0) return "an extent is 0";
  if (s.count_padding && s.overhangs()) return "ceil_mode with count_include_pad: divisors differ";
  for (int i = 0; i < 3; ++i)
    if (s.window.pad_begin[i] >= s.window.reach(i) || s.window.pad_end[i] >= s.window.reach(i))
      return "the padding is as wide as the kernel";
  try {
    if (make_primitive(view, s)) return {};
  } catch (const dnnl::error& e) {
    return fmt::format("oneDNN: {}", e.what());
  }
  return "oneDNN has no implementation for these extents";
}

std::unique_ptr<Kernel> prepare_pool_direct(const NodeView& view, PrepareContext&) {
  const auto pd = make_primitive(view, pool_shape(view));
  onednn::Program program;
  const auto x = program.input(0, pd.src_desc());
  const auto y = program.output(0, pd.dst_desc());
  program.step(dnnl::pooling_v2_forward(pd), pd.scratchpad_desc(), {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}});
  return std::make_unique<onednn::ProgramKernel>(std::move(program));
}

}  // namespace espalier
