#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/movement/movement.hpp"

// Operators whose result is known once shapes and constants are: Shape, Size, ConstantOfShape, Range,
// NonZero.
namespace espalier {
namespace {

/// Writes a tensor that was known at preparation.
class ConstantKernel final : public Kernel {
 public:
  explicit ConstantKernel(Tensor value) : value_(std::move(value)) {}
  void run(const KernelArguments& arguments) override {
    if (value_.bytes() != 0)
      std::memcpy(arguments.outputs[0], value_.data(), static_cast<std::size_t>(value_.bytes()));
  }

 private:
  Tensor value_;
};

template <Tensor (*make)(const NodeView&)>
std::unique_ptr<Kernel> prepare(const NodeView& view, PrepareContext&) {
  return std::make_unique<ConstantKernel>(make(view));
}

LayerCost written(const NodeView& view) {
  return {Flops(0), Bytes(0), Bytes(view.outputs[0]->bytes())};
}

// ---- Shape, Size

Tensor shape_of(const NodeView& view) {
  const Shape& in = view.shape(0);
  const auto clamped = [&](std::int64_t a) {
    return std::clamp<std::int64_t>(a < 0 ? a + in.rank() : a, 0, in.rank());
  };
  const std::int64_t start = clamped(view.attributes().get_int("start", 0));
  const std::int64_t end = std::max(start, clamped(view.attributes().get_int("end", in.rank())));
  return Tensor::of<std::int64_t>(
      Shape{end - start},
      std::span(in.dims()).subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start)));
}

std::vector<TensorType> infer_shape(const NodeView& view) {
  return {shape_of(view).type()};
}

Tensor size_value(const NodeView& view) {
  return Tensor::scalar<std::int64_t>(view.shape(0).elements());
}

std::vector<TensorType> infer_size(const NodeView&) {
  return {{DType::i64, Shape{}}};
}

// ---- ConstantOfShape

std::vector<TensorType> infer_constant(const NodeView& view) {
  const std::vector<std::int64_t> dims = constant_vector(view, 0, "input");
  for (std::int64_t n : dims)
    if (n < 0) throw InputError(fmt::format("shape [{}] has a negative extent", fmt::join(dims, ", ")));
  DType dtype = DType::f32;
  if (view.attributes().has("value")) {
    const Tensor& value = view.attributes().get_tensor("value");
    if (value.elements() != 1)
      throw InputError(fmt::format("value has shape {}; one element is needed", value.shape().to_string()));
    dtype = value.dtype();
  }
  return {{dtype, Shape(dims)}};
}

Tensor filled(const NodeView& view) {
  Tensor out(view.outputs[0]->dtype, view.outputs[0]->shape);
  if (!view.attributes().has("value")) return out;
  const Tensor& value = view.attributes().get_tensor("value");
  const std::size_t bytes = size_of(out.dtype());
  auto* to = static_cast<char*>(out.mutable_data());
  for (std::int64_t i = 0; i < out.elements(); ++i, to += bytes) std::memcpy(to, value.data(), bytes);
  return out;
}

// ---- Range: start, start + delta, ... below (above) limit

using RangeTypes = Types<float, double, std::int16_t, std::int32_t, std::int64_t>;

std::vector<TensorType> infer_range(const NodeView& view) {
  const char* names[] = {"start", "limit", "delta"};
  double v[3];
  const DType dtype = view.inputs[0]->dtype;
  require_dtype(dtype, dtypes_of(RangeTypes{}), "start");
  for (std::size_t i = 0; i < 3; ++i) {
    if (!view.has_input(i)) throw InputError(fmt::format("{} is absent", names[i]));
    const Tensor& t = view.constant(i, names[i]);
    if (t.elements() != 1 || t.dtype() != dtype)
      throw InputError(
          fmt::format("{} is {}; a {} scalar is needed", names[i], t.type().to_string(), name_of(dtype)));
    v[i] = t.to_double()[0];
  }
  const double count = std::ceil((v[1] - v[0]) / v[2]);
  if (v[2] == 0 || !(count < 1e15))
    throw InputError(fmt::format("start {}, limit {}, delta {} describe no finite range", v[0], v[1], v[2]));
  return {{dtype, Shape{std::max<std::int64_t>(0, static_cast<std::int64_t>(count))}}};
}

Tensor range_values(const NodeView& view) {
  Tensor out(view.outputs[0]->dtype, view.outputs[0]->shape);
  dispatch(RangeTypes{}, out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T start = view.constants[0]->as<T>()[0];
    const T delta = view.constants[2]->as<T>()[0];
    std::int64_t i = 0;
    for (T& x : out.as_mutable<T>())
      if constexpr (std::is_integral_v<T>)
        x = static_cast<T>(static_cast<std::uint64_t>(start) +
                           static_cast<std::uint64_t>(i++) * static_cast<std::uint64_t>(delta));
      else
        x = static_cast<T>(start + static_cast<T>(i++) * delta);
  });
  return out;
}

// ---- NonZero: [rank, count] indices of what is not zero, in row-major order

Tensor nonzero(const NodeView& view) {
  const Tensor& in = view.constant(0, "input");
  const int rank = in.shape().rank();
  std::vector<std::int64_t> found;
  const std::vector<double> values = in.to_double();
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0) found.push_back(static_cast<std::int64_t>(i));
  const auto n = static_cast<std::int64_t>(found.size());
  Tensor out(DType::i64, Shape{rank, n});
  const auto to = out.as_mutable<std::int64_t>();
  const std::vector<std::int64_t> strides = in.shape().strides();
  for (std::int64_t k = 0; k < n; ++k)
    for (int a = 0; a < rank; ++a)
      to[static_cast<std::size_t>(a * n + k)] =
          found[static_cast<std::size_t>(k)] / strides[static_cast<std::size_t>(a)] % in.shape()[a];
  return out;
}

std::vector<TensorType> infer_nonzero(const NodeView& view) {
  return {nonzero(view).type()};
}

constexpr Implementation kShape[] = {{"reference", never_refuses, prepare<shape_of>}};
constexpr Implementation kSize[] = {{"reference", never_refuses, prepare<size_value>}};
constexpr Implementation kConstant[] = {{"reference", never_refuses, prepare<filled>}};
constexpr Implementation kRange[] = {{"reference", never_refuses, prepare<range_values>}};
constexpr Implementation kNonZero[] = {{"reference", never_refuses, prepare<nonzero>}};

}  // namespace

Layer shape_layer() {
  return {.op = "Shape",
          .summary = "the extents of a tensor",
          .infer = infer_shape,
          .cost = written,
          .implementations = kShape};
}

Layer size_layer() {
  return {.op = "Size",
          .summary = "the number of elements of a tensor",
          .infer = infer_size,
          .cost = written,
          .implementations = kSize};
}

Layer constant_of_shape_layer() {
  return {.op = "ConstantOfShape",
          .summary = "a tensor filled with one value",
          .infer = infer_constant,
          .cost = written,
          .implementations = kConstant};
}

Layer range_layer() {
  return {.op = "Range",
          .summary = "evenly spaced values",
          .min_inputs = 3,
          .max_inputs = 3,
          .infer = infer_range,
          .cost = written,
          .implementations = kRange};
}

Layer non_zero_layer() {
  return {.op = "NonZero",
          .summary = "indices of what is not zero, of a constant",
          .infer = infer_nonzero,
          .cost = written,
          .implementations = kNonZero};
}

}  // namespace espalier
