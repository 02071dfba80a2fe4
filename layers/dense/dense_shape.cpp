#include "layers/dense/dense_shape.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

void check_types(const NodeView& view) {
  const DType t = view.inputs[0]->dtype;
  if (!is_float(t) && t != DType::i32 && t != DType::i64 && t != DType::u32 && t != DType::u64)
    throw InputError(
        fmt::format("inputs of {}; a float type, int32, int64, uint32 or uint64 is needed", name_of(t)));
  for (std::size_t i = 1; i < std::min<std::size_t>(view.inputs.size(), 3); ++i)
    if (view.has_input(i) && view.inputs[i]->dtype != t)
      throw InputError(
          fmt::format("input {} is {} but input 0 is {}", i, name_of(view.inputs[i]->dtype), name_of(t)));
}

void check_inner(const NodeView& view, std::int64_t a, std::int64_t b) {
  if (a != b)
    throw InputError(fmt::format("the inner extents {} and {} of {} and {} differ", a, b,
                                 view.shape(0).to_string(), view.shape(1).to_string()));
}

/// Strides of an operand's leading axes, aligned with `batch` from behind.
std::vector<std::int64_t> batch_strides(const std::vector<std::int64_t>& lead, std::int64_t matrix,
                                        std::size_t rank) {
  std::vector<std::int64_t> strides(rank, 0);
  std::int64_t step = matrix;
  for (std::size_t i = 0; i < lead.size(); ++i) {
    const std::size_t from = lead.size() - 1 - i;
    strides[rank - 1 - i] = lead[from] == 1 ? 0 : step;
    step *= lead[from];
  }
  return strides;
}

}  // namespace

bool DenseShape::shared_b() const {
  return std::all_of(b_batch.begin(), b_batch.end(), [](std::int64_t s) { return s == 0; });
}

bool DenseShape::stacked_a() const {
  std::int64_t step = m * k;
  for (std::size_t i = batch.size(); i-- > 0; step *= batch[i])
    if (batch[i] != 1 && a_batch[i] != step) return false;
  return a_k == 1 && a_m == k;
}

DenseShape gemm_shape(const NodeView& view) {
  if (!view.has_input(0) || !view.has_input(1)) throw InputError("needs A and B");
  check_types(view);
  const Shape &a = view.shape(0), &b = view.shape(1);
  if (a.rank() != 2 || b.rank() != 2)
    throw InputError(fmt::format("A {} and B {} must be matrices", a.to_string(), b.to_string()));
  const bool trans_a = view.attributes().get_int("transA", 0) != 0;
  const bool trans_b = view.attributes().get_int("transB", 0) != 0;
  DenseShape d;
  d.m = a[trans_a ? 1 : 0];
  d.k = a[trans_a ? 0 : 1];
  d.n = b[trans_b ? 0 : 1];
  check_inner(view, d.k, b[trans_b ? 1 : 0]);
  d.a_m = trans_a ? 1 : d.k;
  d.a_k = trans_a ? d.m : 1;
  d.b_k = trans_b ? 1 : d.n;
  d.b_n = trans_b ? d.k : 1;
  d.alpha = static_cast<float>(view.attributes().get_float("alpha", 1));
  d.output = Shape{d.m, d.n};
  if (view.has_input(2)) {
    const Shape& c = view.shape(2);
    if (c.rank() > 2 || broadcast(c, d.output) != d.output)
      throw InputError(fmt::format("C {} does not broadcast to {}", c.to_string(), d.output.to_string()));
    d.has_c = true;
    d.beta = static_cast<float>(view.attributes().get_float("beta", 1));
    d.c_n = c.rank() > 0 && c[-1] != 1 ? 1 : 0;
    d.c_m = c.rank() == 2 && c[0] != 1 ? c[1] : 0;
  }
  return d;
}

DenseShape matmul_shape(const NodeView& view) {
  if (!view.has_input(0) || !view.has_input(1)) throw InputError("needs two inputs");
  check_types(view);
  std::vector<std::int64_t> a = view.shape(0).dims(), b = view.shape(1).dims();
  if (a.empty() || b.empty()) throw InputError("MatMul of a scalar; use Mul");
  const bool vector_a = a.size() == 1, vector_b = b.size() == 1;
  if (vector_a) a.insert(a.begin(), 1);
  if (vector_b) b.push_back(1);
  DenseShape d;
  d.m = a[a.size() - 2];
  d.k = a.back();
  d.n = b.back();
  check_inner(view, d.k, b[b.size() - 2]);
  a.resize(a.size() - 2);
  b.resize(b.size() - 2);
  d.batch = broadcast(Shape(a), Shape(b)).dims();
  d.a_batch = batch_strides(a, d.m * d.k, d.batch.size());
  d.b_batch = batch_strides(b, d.k * d.n, d.batch.size());
  d.a_m = d.k;
  d.a_k = 1;
  d.b_k = d.n;
  d.b_n = 1;
  std::vector<std::int64_t> out = d.batch;
  if (!vector_a) out.push_back(d.m);
  if (!vector_b) out.push_back(d.n);
  d.output = Shape(std::move(out));
  if (view.has_input(2)) {
    if (view.shape(2) != Shape{d.n})
      throw InputError(fmt::format("the bias {} must be [{}]", view.shape(2).to_string(), d.n));
    d.has_c = true;
    d.beta = 1;
    d.c_n = 1;
  }
  return d;
}

DenseShape dense_shape(const NodeView& view) {
  return view.op() == "Gemm" ? gemm_shape(view) : matmul_shape(view);
}

}  // namespace espalier
