#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

std::vector<int> perm_of(const NodeView& view) {
  const int rank = view.shape(0).rank();
  std::vector<int> perm;
  for (int i = rank - 1; i >= 0; --i) perm.push_back(i);
  if (!view.attributes().has("perm")) return perm;
  const std::vector<std::int64_t> given = view.attributes().get_ints("perm");
  std::vector<bool> seen(static_cast<std::size_t>(rank), false);
  bool good = static_cast<int>(given.size()) == rank;
  for (std::size_t i = 0; good && i < given.size(); ++i) {
    good = given[i] >= 0 && given[i] < rank && !seen[static_cast<std::size_t>(given[i])];
    if (!good) break;
    seen[static_cast<std::size_t>(given[i])] = true;
    perm[i] = static_cast<int>(given[i]);
  }
  if (!good)
    throw InputError(fmt::format("perm [{}] is not a permutation of the {} axes of shape {}",
                                 fmt::join(given, ", "), rank, view.shape(0).to_string()));
  return perm;
}

std::vector<std::int64_t> source_strides(const NodeView& view) {
  const std::vector<std::int64_t> strides = view.shape(0).strides();
  std::vector<std::int64_t> out;
  for (int p : perm_of(view)) out.push_back(strides[static_cast<std::size_t>(p)]);
  return out;
}

std::vector<TensorType> infer(const NodeView& view) {
  return {{view.inputs[0]->dtype, permuted(view.shape(0), perm_of(view))}};
}

std::unique_ptr<Kernel> prepare_strided(const NodeView& view, PrepareContext&) {
  const Shape& out = view.outputs[0]->shape;
  return make_copy_kernel(
      view,
      {{0, 0,
        CopyPlan({out.dims(), out.strides(), source_strides(view), 0, 0, size_of(view.inputs[0]->dtype)})}});
}

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return make_index_kernel(
      view, [strides = source_strides(view)](int, std::span<const std::int64_t> index) -> Source {
        return {0, offset_of(index, strides)};
      });
}

constexpr Implementation kImplementations[] = {{"strided", never_refuses, prepare_strided},
                                               {"reference", never_refuses, prepare_reference}};

}  // namespace

Layer transpose_layer() {
  return {.op = "Transpose",
          .summary = "permutes the axes",
          .infer = infer,
          .cost = movement_cost,
          .implementations = kImplementations};
}

}  // namespace espalier
