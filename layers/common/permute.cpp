#include "layers/common/permute.hpp"

#include <cstring>
#include <numeric>

namespace espalier {

Tensor permuted_tensor(const Tensor& in, std::span<const int> perm) {
  Tensor out(in.dtype(), permuted(in.shape(), perm));
  const std::size_t size = size_of(in.dtype());
  const auto rank = static_cast<std::size_t>(in.shape().rank());
  const std::vector<std::int64_t> in_strides = in.shape().strides();
  std::vector<std::int64_t> counter(rank, 0);
  const auto* source = static_cast<const char*>(in.data());
  auto* target = static_cast<char*>(out.mutable_data());
  const std::int64_t n = out.elements();
  std::int64_t offset = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    std::memcpy(target, source + static_cast<std::size_t>(offset) * size, size);
    target += size;
    for (std::size_t axis = rank; axis-- > 0;) {
      const std::int64_t stride = in_strides[static_cast<std::size_t>(perm[axis])];
      offset += stride;
      if (++counter[axis] < out.shape()[static_cast<int>(axis)]) break;
      offset -= stride * counter[axis];
      counter[axis] = 0;
    }
  }
  return out;
}

std::vector<int> inverse_permutation(std::span<const int> perm) {
  std::vector<int> inverse(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    inverse[static_cast<std::size_t>(perm[i])] = static_cast<int>(i);
  return inverse;
}

std::optional<std::vector<int>> permute_elementwise(Graph& graph, Node& node, std::span<const int> perm) {
  const int rank = static_cast<int>(perm.size());
  for (ValueId v : node.inputs) {
    if (v == kAbsent) continue;
    const Shape& shape = graph.type(v).shape;
    if (shape.rank() > rank) return std::nullopt;
    if (shape.rank() < rank && graph.constant(v) == nullptr && shape.elements() != 1) return std::nullopt;
  }
  for (ValueId& v : node.inputs) {
    const Tensor* constant = graph.constant(v);
    if (constant == nullptr || constant->elements() == 1) continue;
    std::vector<std::int64_t> full(static_cast<std::size_t>(rank - constant->shape().rank()), 1);
    full.insert(full.end(), constant->shape().begin(), constant->shape().end());
    Tensor moved = permuted_tensor(constant->reshaped(Shape(std::move(full))), perm);
    v = graph.add_constant(graph.values[static_cast<std::size_t>(v)].name + "/permuted", std::move(moved));
  }
  return std::vector<int>(perm.begin(), perm.end());
}

}  // namespace espalier
