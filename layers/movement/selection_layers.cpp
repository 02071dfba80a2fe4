#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/onnx/tensor_proto.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/movement/indices.hpp"
#include "layers/movement/movement.hpp"

// OneHot, EyeLike, Trilu, ReverseSequence.
namespace espalier {
namespace {

// ---- OneHot: out[a..., k, b...] = values[1] where k = indices[a..., b...] (from the end if negative), else
// values[0]

int one_hot_axis(const NodeView& view) {
  return normalise_axis(view.attributes().get_int("axis", -1), view.shape(0).rank() + 1);
}

std::vector<TensorType> infer_one_hot(const NodeView& view) {
  require_dtype(view.inputs[0]->dtype, dtypes_of(Numeric{}), "indices");
  const Tensor& depth = view.constant(1, "depth");
  if (depth.elements() != 1 || view.shape(2) != Shape{2})
    throw InputError(fmt::format("depth has shape {} and values {}; one element and [2] are needed",
                                 depth.shape().to_string(), view.shape(2).to_string()));
  const double n = depth.to_double()[0];
  if (!(n >= 0 && n < 4e18)) throw InputError(fmt::format("depth is {}; it must not be negative", n));
  std::vector<std::int64_t> dims = view.shape(0).dims();
  dims.insert(dims.begin() + one_hot_axis(view), static_cast<std::int64_t>(n));
  return {{view.inputs[2]->dtype, Shape(std::move(dims))}};
}

template <class Index>
class OneHotKernel final : public Kernel {
 public:
  explicit OneHotKernel(const NodeView& view) {
    const int axis = one_hot_axis(view);
    outer_ = view.shape(0).elements(0, axis);
    inner_ = view.shape(0).elements(axis, view.shape(0).rank());
    depth_ = view.outputs[0]->shape[axis];
    bytes_ = size_of(view.inputs[2]->dtype);
  }
  void run(const KernelArguments& arguments) override {
    const auto* indices = static_cast<const Index*>(arguments.inputs[0]);
    const auto* values = static_cast<const char*>(arguments.inputs[2]);
    auto* out = static_cast<char*>(arguments.outputs[0]);
    for (std::int64_t o = 0; o < outer_; ++o, indices += inner_)
      for (std::int64_t k = 0; k < depth_; ++k)
        for (std::int64_t i = 0; i < inner_; ++i, out += bytes_) {
          const auto index = static_cast<double>(static_cast<Compute<Index>>(indices[i]));
          const bool hot =
              std::trunc(index < 0 ? index + static_cast<double>(depth_) : index) == static_cast<double>(k);
          std::memcpy(out, values + (hot ? bytes_ : 0), bytes_);
        }
  }

 private:
  std::int64_t outer_, inner_, depth_;
  std::size_t bytes_;
};

std::unique_ptr<Kernel> prepare_one_hot(const NodeView& view, PrepareContext&) {
  return dispatch(Numeric{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<OneHotKernel<typename decltype(tag)::type>>(view);
  });
}

// ---- EyeLike: ones on the k-th diagonal of a matrix of the input's shape

std::vector<TensorType> infer_eye(const NodeView& view) {
  if (view.shape(0).rank() != 2)
    throw InputError(fmt::format("input has shape {}; a matrix is needed", view.shape(0).to_string()));
  DType dtype = view.inputs[0]->dtype;
  if (view.attributes().has("dtype"))
    dtype = dtype_of_onnx(static_cast<int>(view.attributes().get_int("dtype")));
  return {{dtype, view.shape(0)}};
}

class EyeKernel final : public Kernel {
 public:
  explicit EyeKernel(const NodeView& view)
      : shape_(view.shape(0)), diagonal_(view.attributes().get_int("k", 0)) {
    const DType dtype = view.outputs[0]->dtype;
    one_ = Tensor(dtype, Shape{1});
    dispatch(AllTypes{}, dtype, [&](auto tag) {
      using T = typename decltype(tag)::type;
      *static_cast<T*>(one_.mutable_data()) = T(static_cast<Compute<T>>(1));
    });
  }
  void run(const KernelArguments& arguments) override {
    const std::size_t bytes = size_of(one_.dtype());
    auto* out = static_cast<char*>(arguments.outputs[0]);
    if (shape_.elements() == 0) return;
    std::memset(out, 0, static_cast<std::size_t>(shape_.elements()) * bytes);
    for (std::int64_t r = 0; r < shape_[0]; ++r) {
      if (diagonal_ < -r || diagonal_ >= shape_[1] - r) continue;
      std::memcpy(out + static_cast<std::size_t>(r * shape_[1] + r + diagonal_) * bytes, one_.data(), bytes);
    }
  }

 private:
  Shape shape_;
  std::int64_t diagonal_;
  Tensor one_;
};

// ---- Trilu: keeps what lies on and above (upper) or below the k-th diagonal of the last two axes

std::vector<TensorType> infer_trilu(const NodeView& view) {
  if (view.shape(0).rank() < 2)
    throw InputError(
        fmt::format("input has shape {}; at least two axes are needed", view.shape(0).to_string()));
  if (view.has_input(1) && (view.shape(1).elements() != 1 || view.inputs[1]->dtype != DType::i64))
    throw InputError(fmt::format("k is {}; an int64 scalar is needed", view.inputs[1]->to_string()));
  return {*view.inputs[0]};
}

class TriluKernel final : public Kernel {
 public:
  explicit TriluKernel(const NodeView& view)
      : shape_(view.shape(0)),
        bytes_(size_of(view.inputs[0]->dtype)),
        upper_(view.attributes().get_int("upper", 1) != 0) {}
  bool in_place() const override { return true; }
  void run(const KernelArguments& arguments) override {
    const std::int64_t rows = shape_[-2], columns = shape_[-1];
    if (shape_.elements() == 0) return;
    std::int64_t k = 0;
    if (arguments.inputs.size() > 1 && arguments.inputs[1] != nullptr)
      k = *static_cast<const std::int64_t*>(arguments.inputs[1]);
    k = std::clamp(k, -rows - 1, columns + 1);
    const std::size_t row_bytes = static_cast<std::size_t>(columns) * bytes_;
    const auto* in = static_cast<const char*>(arguments.inputs[0]);
    auto* out = static_cast<char*>(arguments.outputs[0]);
    for (std::int64_t row = 0; row < shape_.elements() / columns; ++row, in += row_bytes, out += row_bytes) {
      // kept: [edge, columns) of the upper, [0, edge + 1) of the lower triangle
      const std::int64_t edge = row % rows + k + (upper_ ? 0 : 1);
      const std::size_t cut = static_cast<std::size_t>(std::clamp<std::int64_t>(edge, 0, columns)) * bytes_;
      if (in != out) std::memcpy(out, in, row_bytes);
      if (upper_)
        std::memset(out, 0, cut);
      else
        std::memset(out + cut, 0, row_bytes - cut);
    }
  }

 private:
  Shape shape_;
  std::size_t bytes_;
  bool upper_;
};

// ---- ReverseSequence: the first sequence_lens[b] steps of batch entry b in reverse order

std::vector<TensorType> infer_reverse(const NodeView& view) {
  const std::int64_t time = view.attributes().get_int("time_axis", 0);
  const std::int64_t batch = view.attributes().get_int("batch_axis", 1);
  if (std::min(time, batch) != 0 || std::max(time, batch) != 1)
    throw InputError(
        fmt::format("time_axis {} and batch_axis {} must be 0 and 1 in some order", time, batch));
  if (view.shape(0).rank() < 2 || view.shape(1) != Shape{view.shape(0)[static_cast<int>(batch)]})
    throw InputError(fmt::format("input {} and sequence_lens {} do not fit (batch_axis {})",
                                 view.shape(0).to_string(), view.shape(1).to_string(), batch));
  require_index_type(view, 1, "sequence_lens");
  return {*view.inputs[0]};
}

class ReverseKernel final : public Kernel {
 public:
  explicit ReverseKernel(const NodeView& view) {
    const Shape& in = view.shape(0);
    time_ = static_cast<int>(view.attributes().get_int("time_axis", 0));
    steps_ = in[time_];
    batch_ = in[1 - time_];
    block_ = static_cast<std::size_t>(in.elements(2, in.rank())) * size_of(view.inputs[0]->dtype);
    index_type_ = view.inputs[1]->dtype;
  }
  void run(const KernelArguments& arguments) override {
    if (block_ == 0) return;
    for (std::int64_t b = 0; b < batch_; ++b) {
      const std::int64_t length = read_index(arguments.inputs[1], index_type_, b);
      if (length < 0 || length > steps_)
        throw InputError(fmt::format("sequence_lens[{}] is {}; it must lie in [0, {}]", b, length, steps_));
      for (std::int64_t t = 0; t < steps_; ++t)
        std::memcpy(static_cast<char*>(arguments.outputs[0]) + place(t, b),
                    static_cast<const char*>(arguments.inputs[0]) + place(t < length ? length - 1 - t : t, b),
                    block_);
    }
  }

 private:
  std::size_t place(std::int64_t t, std::int64_t b) const {
    return static_cast<std::size_t>(time_ == 0 ? t * batch_ + b : b * steps_ + t) * block_;
  }
  int time_;
  std::int64_t steps_, batch_;
  std::size_t block_;
  DType index_type_;
};

template <class K>
std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext&) {
  return std::make_unique<K>(view);
}

constexpr Implementation kOneHot[] = {{"reference", never_refuses, prepare_one_hot}};
constexpr Implementation kEye[] = {{"reference", never_refuses, prepare<EyeKernel>}};
constexpr Implementation kTrilu[] = {{"reference", never_refuses, prepare<TriluKernel>}};
constexpr Implementation kReverse[] = {{"reference", never_refuses, prepare<ReverseKernel>}};

}  // namespace

Layer one_hot_layer() {
  return {.op = "OneHot",
          .summary = "one-hot vectors along a new axis",
          .min_inputs = 3,
          .max_inputs = 3,
          .infer = infer_one_hot,
          .cost = movement_cost,
          .implementations = kOneHot};
}

Layer eye_like_layer() {
  return {.op = "EyeLike",
          .summary = "ones on a diagonal",
          .infer = infer_eye,
          .cost = movement_cost,
          .implementations = kEye};
}

Layer trilu_layer() {
  return {.op = "Trilu",
          .summary = "the upper or lower triangle of matrices",
          .max_inputs = 2,
          .infer = infer_trilu,
          .cost = movement_cost,
          .implementations = kTrilu};
}

Layer reverse_sequence_layer() {
  return {.op = "ReverseSequence",
          .summary = "reverses the first steps of each sequence",
          .min_inputs = 2,
          .max_inputs = 2,
          .infer = infer_reverse,
          .cost = movement_cost,
          .implementations = kReverse};
}

}  // namespace espalier
