#include "layers/dense/dense_matmul.hpp"

#include <fmt/format.h>

#include "layers/common/onednn.hpp"
#include "layers/dense/dense_shape.hpp"

namespace espalier {
namespace {

using dnnl::memory;

struct Descriptors {
  memory::desc a, b, y, bias;         ///< as they are given
  memory::desc compute_a, compute_b;  ///< as the primitive takes them
};

/// An operand's descriptor; a broadcast batch axis has extent 1.
memory::desc operand(const std::vector<std::int64_t>& batch, const std::vector<std::int64_t>& strides,
                     std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                     std::int64_t column_stride) {
  memory::dims dims, steps;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    dims.push_back(strides[i] == 0 ? 1 : batch[i]);
    steps.push_back(strides[i] == 0 ? rows * columns : strides[i]);
  }
  dims.insert(dims.end(), {rows, columns});
  steps.insert(steps.end(), {row_stride, column_stride});
  return {dims, memory::data_type::f32, steps};
}

/// Without a batch when B is shared: all rows of A in one matrix.
DenseShape flattened(DenseShape d) {
  if (!d.shared_b() || !d.stacked_a()) return d;
  d.m *= d.batches();
  d.batch.clear();
  d.a_batch.clear();
  d.b_batch.clear();
  return d;
}

/// C as oneDNN's bias: a row that needs no scaling at run time.
bool row_bias(const DenseShape& d) {
  return d.has_c && d.alpha == 1 && d.beta == 1 && d.c_m == 0 && (d.c_n == 1 || d.n == 1);
}

/// The same layout with elements of another type.
memory::desc retyped(const memory::desc& d, DType t) {
  memory::desc r = d;
  r.data.data_type = memory::convert_to_c(onednn::data_type(t));
  return r;
}

Descriptors describe(const DenseShape& d, DType compute, bool packed) {
  Descriptors r;
  r.a = operand(d.batch, d.a_batch, d.m, d.k, d.a_m, d.a_k);
  r.b = operand(d.batch, d.b_batch, d.k, d.n, d.b_k, d.b_n);
  memory::dims out = d.batch;
  out.insert(out.end(), {d.m, d.n});
  r.y = onednn::row_major(DType::f32, out);
  if (row_bias(d)) {
    memory::dims row(d.batch.size() + 1, 1);
    row.push_back(d.n);
    r.bias = onednn::row_major(DType::f32, row);
  }
  r.compute_a = retyped(r.a, compute);
  r.compute_b = packed ? onednn::any_layout(retyped(r.b, compute)) : retyped(r.b, compute);
  return r;
}

/// beta C goes to the output first and is summed to, unless it serves as a bias.
onednn::PostOps fused(const NodeView& view, const DenseShape& d, const memory::desc& y) {
  return onednn::post_ops(view, y, d.has_c && !row_bias(d));
}

dnnl::matmul::primitive_desc make_primitive(const Descriptors& r, const DenseShape& d,
                                            const dnnl::post_ops& ops, const KernelOptions& options) {
  auto attr = onednn::attributes(ops, options);
  if (d.alpha != 1) attr.set_output_scales(0, {d.alpha});
  return {dnnl::matmul::desc(r.compute_a, r.compute_b, r.bias, r.y), attr, onednn::cpu(), true};
}

class MatmulKernel final : public Kernel {
 public:
  MatmulKernel(DenseShape d, onednn::Program program, bool fill)
      : d_(std::move(d)), program_(std::move(program)), fill_(fill) {}
  std::size_t scratch_bytes() const override { return program_.scratch_bytes(); }
  void run(const KernelArguments& arguments) override {
    if (fill_)
      fill(static_cast<const float*>(arguments.inputs[2]), static_cast<float*>(arguments.outputs[0]));
    program_.run(arguments);
  }

 private:
  void fill(const float* c, float* y) const {
    for (std::int64_t m = 0; m < d_.m; ++m)
      for (std::int64_t n = 0; n < d_.n; ++n) y[m * d_.n + n] = d_.beta * c[m * d_.c_m + n * d_.c_n];
  }
  DenseShape d_;
  onednn::Program program_;
  bool fill_;
};

/// Packing pays when B is a constant matrix.
bool packs(const NodeView& view, const DenseShape& d) {
  return view.constants[1] != nullptr && d.batch.empty();
}

std::string refuses(const NodeView& view, const KernelOptions& options, DType compute) {
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  const DenseShape d = flattened(dense_shape(view));
  if (d.batches() == 0 || d.m == 0 || d.n == 0 || d.k == 0) return "an extent is 0";
  const Descriptors r = describe(d, compute, packs(view, d));
  const auto post = fused(view, d, r.y);
  if (!post.refused.empty()) return post.refused;
  try {
    if (make_primitive(r, d, post.ops, options)) return {};
  } catch (const dnnl::error& e) {
    return fmt::format("oneDNN: {}", e.what());
  }
  return "oneDNN has no implementation for these extents";
}

std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext& context, DType compute) {
  const DenseShape d = flattened(dense_shape(view));
  const bool packed = packs(view, d), bias = row_bias(d);
  const Descriptors r = describe(d, compute, packed);
  const auto post = fused(view, d, r.y);
  const auto pd = make_primitive(r, d, post.ops, context.options);
  onednn::Program program;
  std::vector<std::pair<int, onednn::Slot>> arguments;
  arguments.emplace_back(DNNL_ARG_SRC, program.reordered(program.input(0, r.a), r.compute_a));
  arguments.emplace_back(DNNL_ARG_DST, program.output(0, r.y));
  arguments.emplace_back(
      DNNL_ARG_WEIGHTS,
      packed ? program.constant(onednn::pack(context.weights, *view.constants[1], r.b, pd.weights_desc()),
                                pd.weights_desc())
             : program.reordered(program.input(1, r.b), r.compute_b));
  if (bias) arguments.emplace_back(DNNL_ARG_BIAS, program.input(2, r.bias));
  for (auto [argument, index] : post.operands) arguments.emplace_back(argument, program.input(index, r.y));
  program.step(dnnl::matmul(pd), pd.scratchpad_desc(), arguments);
  return std::make_unique<MatmulKernel>(d, std::move(program), d.has_c && !bias);
}

}  // namespace

std::string dense_matmul_refuses(const NodeView& view, const KernelOptions& options) {
  return refuses(view, options, DType::f32);
}

std::unique_ptr<Kernel> prepare_dense_matmul(const NodeView& view, PrepareContext& context) {
  return prepare(view, context, DType::f32);
}

std::string dense_bf16_refuses(const NodeView& view, const KernelOptions& options) {
  if (!options.allow_bf16) return "bfloat16 is not allowed";
  if (!onednn::has_bf16()) return "the processor has no bfloat16 instructions";
  return refuses(view, options, DType::bf16);
}

std::unique_ptr<Kernel> prepare_dense_bf16(const NodeView& view, PrepareContext& context) {
  return prepare(view, context, DType::bf16);
}

}  // namespace espalier
