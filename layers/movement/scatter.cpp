#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/movement/indices.hpp"
#include "layers/movement/movement.hpp"

namespace espalier {
namespace {

/// dst[0, n) = dst combined with src[0, n), element by element.
using Combine = void (*)(void* dst, const void* src, std::int64_t n);

template <class T, class F>
void combine_elements(void* dst, const void* src, std::int64_t n) {
  auto* d = static_cast<T*>(dst);
  const auto* s = static_cast<const T*>(src);
  for (std::int64_t i = 0; i < n; ++i)
    d[i] = T(static_cast<Compute<T>>(F{}(static_cast<Compute<T>>(d[i]), static_cast<Compute<T>>(s[i]))));
}

struct Larger {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
struct Smaller {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};

std::string reduction_of(const NodeView& view) {
  const std::string reduction = view.attributes().get_string("reduction", "none");
  if (reduction != "none" && reduction != "add" && reduction != "mul" && reduction != "max" &&
      reduction != "min")
    throw InputError(fmt::format("reduction is \"{}\"; accepted are none, add, mul, max, min", reduction));
  if (reduction != "none" && view.inputs[0]->dtype == DType::boolean)
    throw InputError(fmt::format("reduction {} is not defined for bool", reduction));
  return reduction;
}

/// nullptr for "none".
Combine combine_of(const NodeView& view) {
  const std::string reduction = reduction_of(view);
  if (reduction == "none") return nullptr;
  return dispatch(Numeric{}, view.inputs[0]->dtype, [&](auto tag) -> Combine {
    using T = typename decltype(tag)::type;
    if (reduction == "add") return combine_elements<T, std::plus<>>;
    if (reduction == "mul") return combine_elements<T, std::multiplies<>>;
    if (reduction == "max") return combine_elements<T, Larger>;
    return combine_elements<T, Smaller>;
  });
}

void require_same_type(const NodeView& view) {
  require_index_type(view, 1, "indices");
  if (view.inputs[2]->dtype != view.inputs[0]->dtype)
    throw InputError(fmt::format("updates are {} but the data {}", view.inputs[2]->to_string(),
                                 view.inputs[0]->to_string()));
  reduction_of(view);
}

// ---- ScatterElements: out = data; out[i with its axis replaced by indices[i]] = updates[i]

int axis_of(const NodeView& view) {
  return normalise_axis(view.attributes().get_int("axis", 0), view.shape(0).rank());
}

std::vector<TensorType> infer_elements(const NodeView& view) {
  require_same_type(view);
  const Shape& data = view.shape(0);
  const Shape& indices = view.shape(1);
  const int axis = axis_of(view);
  bool good = data.rank() == indices.rank() && view.shape(2) == indices;
  for (int a = 0; good && a < data.rank(); ++a) good = a == axis || indices[a] <= data[a];
  if (!good)
    throw InputError(
        fmt::format("indices {} and updates {} must have one shape inside the data's {} (axis {} excepted)",
                    indices.to_string(), view.shape(2).to_string(), data.to_string(), axis));
  return {*view.inputs[0]};
}

class ScatterElementsKernel final : public Kernel {
 public:
  explicit ScatterElementsKernel(const NodeView& view)
      : axis_(axis_of(view)),
        data_(view.shape(0)),
        shape_(view.shape(1)),
        strides_(data_.strides()),
        bytes_(size_of(view.inputs[0]->dtype)),
        index_type_(view.inputs[1]->dtype),
        combine_(combine_of(view)),
        index_(static_cast<std::size_t>(shape_.rank())) {}
  bool in_place() const override { return true; }
  void run(const KernelArguments& arguments) override {
    char* dst = static_cast<char*>(arguments.outputs[0]);
    const char* updates = static_cast<const char*>(arguments.inputs[2]);
    const auto total = static_cast<std::size_t>(data_.elements()) * bytes_;
    if (total == 0) return;
    if (dst != arguments.inputs[0]) std::memcpy(dst, arguments.inputs[0], total);
    std::fill(index_.begin(), index_.end(), 0);
    const auto axis = static_cast<std::size_t>(axis_);
    const std::int64_t n = shape_.elements();
    for (std::int64_t e = 0; e < n; ++e, updates += bytes_) {
      const std::int64_t at =
          checked_index(read_index(arguments.inputs[1], index_type_, e), data_[axis_], axis_);
      char* to =
          dst + static_cast<std::size_t>(offset_of(index_, strides_) + (at - index_[axis]) * strides_[axis]) *
                    bytes_;
      if (combine_ == nullptr)
        std::memcpy(to, updates, bytes_);
      else
        combine_(to, updates, 1);
      for (int k = shape_.rank() - 1; k >= 0; --k) {
        if (++index_[static_cast<std::size_t>(k)] < shape_[k]) break;
        index_[static_cast<std::size_t>(k)] = 0;
      }
    }
  }

 private:
  int axis_;
  Shape data_, shape_;
  std::vector<std::int64_t> strides_;
  std::size_t bytes_;
  DType index_type_;
  Combine combine_;
  std::vector<std::int64_t> index_;
};

// ---- ScatterND: out = data; out[indices[i..., :], d...] = updates[i..., d...]

std::vector<TensorType> infer_nd(const NodeView& view) {
  require_same_type(view);
  const Shape& data = view.shape(0);
  const Shape& indices = view.shape(1);
  bool good = indices.rank() >= 1 && data.rank() >= 1 && indices[-1] >= 0 && indices[-1] <= data.rank();
  if (good) {
    std::vector<std::int64_t> dims(indices.begin(), indices.end() - 1);
    dims.insert(dims.end(), data.begin() + indices[-1], data.end());
    good = view.shape(2) == Shape(std::move(dims));
  }
  if (!good)
    throw InputError(
        fmt::format("data {}, indices {} and updates {} do not fit: updates must be indices without its last "
                    "axis k, then "
                    "data without its first k axes",
                    data.to_string(), indices.to_string(), view.shape(2).to_string()));
  return {*view.inputs[0]};
}

class ScatterNdKernel final : public Kernel {
 public:
  explicit ScatterNdKernel(const NodeView& view)
      : data_(view.shape(0)),
        strides_(data_.strides()),
        bytes_(size_of(view.inputs[0]->dtype)),
        index_type_(view.inputs[1]->dtype),
        combine_(combine_of(view)) {
    const Shape& indices = view.shape(1);
    depth_ = static_cast<int>(indices[-1]);
    tuples_ = indices.elements(0, indices.rank() - 1);
    block_ = data_.elements(depth_, data_.rank());
  }
  bool in_place() const override { return true; }
  void run(const KernelArguments& arguments) override {
    char* dst = static_cast<char*>(arguments.outputs[0]);
    const char* updates = static_cast<const char*>(arguments.inputs[2]);
    const auto total = static_cast<std::size_t>(data_.elements()) * bytes_;
    const std::size_t block = static_cast<std::size_t>(block_) * bytes_;
    if (total == 0 || block == 0) return;
    if (dst != arguments.inputs[0]) std::memcpy(dst, arguments.inputs[0], total);
    std::int64_t i = 0;
    for (std::int64_t t = 0; t < tuples_; ++t, updates += block) {
      std::int64_t at = 0;
      for (int k = 0; k < depth_; ++k)
        at += checked_index(read_index(arguments.inputs[1], index_type_, i++), data_[k], k) *
              strides_[static_cast<std::size_t>(k)];
      char* to = dst + static_cast<std::size_t>(at) * bytes_;
      if (combine_ == nullptr)
        std::memcpy(to, updates, block);
      else
        combine_(to, updates, block_);
    }
  }

 private:
  Shape data_;
  std::vector<std::int64_t> strides_;
  std::size_t bytes_;
  DType index_type_;
  Combine combine_;
  int depth_;
  std::int64_t tuples_, block_;
};

template <class K>
std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext&) {
  return std::make_unique<K>(view);
}

constexpr Implementation kElements[] = {{"reference", never_refuses, prepare<ScatterElementsKernel>}};
constexpr Implementation kNd[] = {{"reference", never_refuses, prepare<ScatterNdKernel>}};

}  // namespace

Layer scatter_elements_layer() {
  return {.op = "ScatterElements",
          .summary = "writes one element along an axis for each index",
          .min_inputs = 3,
          .max_inputs = 3,
          .infer = infer_elements,
          .cost = movement_cost,
          .implementations = kElements};
}

Layer scatter_nd_layer() {
  return {.op = "ScatterND",
          .summary = "writes slices by index tuples",
          .min_inputs = 3,
          .max_inputs = 3,
          .infer = infer_nd,
          .cost = movement_cost,
          .implementations = kNd};
}

}  // namespace espalier
