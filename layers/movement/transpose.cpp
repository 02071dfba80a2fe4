#include <array>
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

/// The rows (axis 1) of the output that TransposeRows computes.
std::array<std::int64_t, 2> rows_of(const NodeView& view) {
  const std::vector<std::int64_t> rows = view.attributes().get_ints("rows");
  const Shape whole = permuted(view.shape(0), perm_of(view));
  if (rows.size() != 2 || whole.rank() < 2 || rows[0] < 0 || rows[0] >= rows[1] || rows[1] > whole[1])
    throw InputError(
        fmt::format("rows [{}] is not a range of rows of {}", fmt::join(rows, ", "), whole.to_string()));
  return {rows[0], rows[1]};
}

std::vector<TensorType> infer_rows(const NodeView& view) {
  Shape shape = permuted(view.shape(0), perm_of(view));
  const auto [begin, end] = rows_of(view);
  shape[1] = end - begin;
  return {{view.inputs[0]->dtype, shape}};
}

std::int64_t first_row_offset(const NodeView& view) {
  return rows_of(view)[0] * source_strides(view)[1];
}

/// Twice the output: of the input only those elements are read.
LayerCost rows_cost(const NodeView& view) {
  const std::int64_t bytes = infer_rows(view)[0].bytes();
  return {Flops{0}, Bytes{bytes}, Bytes{bytes}};
}

std::unique_ptr<Kernel> prepare_rows(const NodeView& view, PrepareContext&) {
  const Shape& out = view.outputs[0]->shape;
  return make_copy_kernel(view, {{0, 0,
                                  CopyPlan({out.dims(), out.strides(), source_strides(view), 0,
                                            first_row_offset(view), size_of(view.inputs[0]->dtype)})}});
}

std::unique_ptr<Kernel> prepare_rows_reference(const NodeView& view, PrepareContext&) {
  return make_index_kernel(view,
                           [strides = source_strides(view), first = first_row_offset(view)](
                               int, std::span<const std::int64_t> index) -> Source {
                             return {0, first + offset_of(index, strides)};
                           });
}

constexpr Implementation kRowsImplementations[] = {{"strided", never_refuses, prepare_rows},
                                                   {"reference", never_refuses, prepare_rows_reference}};

}  // namespace

Layer transpose_layer() {
  return {.op = "Transpose",
          .summary = "permutes the axes",
          .infer = infer,
          .cost = movement_cost,
          .implementations = kImplementations};
}

Layer transpose_rows_layer() {
  return {.op = "TransposeRows",
          .summary = "a range of rows of a transposed tensor (made by lowering into bands)",
          .infer = infer_rows,
          .cost = rows_cost,
          .implementations = kRowsImplementations};
}

}  // namespace espalier
