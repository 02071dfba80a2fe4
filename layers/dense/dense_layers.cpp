#include "layers/dense/dense_layers.hpp"

#include "layers/common/post_ops.hpp"
#include "layers/dense/dense_matmul.hpp"
#include "layers/dense/dense_reference.hpp"
#include "layers/dense/dense_shape.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer(const NodeView& view) {
  return {{view.inputs[0]->dtype, dense_shape(view).output}};
}

LayerCost cost(const NodeView& view) {
  const DenseShape d = dense_shape(view);
  LayerCost c{};
  c.flops = Flops(2.0 * double(d.batches()) * double(d.m) * double(d.n) * double(d.k));
  for (const TensorType* t : view.inputs)
    if (t != nullptr) c.bytes_read += Bytes(t->bytes());
  c.bytes_written = Bytes(d.output.elements() * static_cast<std::int64_t>(size_of(view.inputs[0]->dtype)));
  return c;
}

constexpr Implementation kDense[] = {
    {"bf16", dense_bf16_refuses, prepare_dense_bf16},
    {"matmul", dense_matmul_refuses, prepare_dense_matmul},
    {"reference", dense_reference_refuses, prepare_dense_reference},
};

const Layer kLayers[] = {
    {.op = "Gemm",
     .summary = "alpha A B + beta C of matrices, each transposed or not",
     .min_inputs = 2,
     .max_inputs = 3,
     .max_outputs = 1,
     .infer = infer,
     .cost = cost,
     .can_fuse = can_fuse_post_op,
     .implementations = kDense},
    {.op = "MatMul",
     .summary = "matrix product with broadcast batch axes, as numpy.matmul; fusion adds a bias",
     .min_inputs = 2,
     .max_inputs = 3,
     .max_outputs = 1,
     .infer = infer,
     .cost = cost,
     .can_fuse = can_fuse_post_op,
     .implementations = kDense},
};

}  // namespace

std::span<const Layer> dense_layers() {
  return kLayers;
}

}  // namespace espalier
