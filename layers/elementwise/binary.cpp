#include <array>
#include <cstring>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/broadcast.hpp"
#include "layers/common/permute.hpp"
#include "layers/elementwise/binary_table.hpp"
#include "layers/elementwise/elementwise.hpp"
#include "layers/elementwise/pow.hpp"
#include "layers/elementwise/where.hpp"

namespace espalier {
namespace {

void check_same_dtypes(const NodeView& view) {
  for (std::size_t i = 0; i < view.inputs.size(); ++i) {
    if (!view.has_input(i)) throw InputError(fmt::format("input {} is missing", i));
    if (view.inputs[i]->dtype != view.inputs[0]->dtype)
      throw InputError(fmt::format("input {} is {}, input 0 is {}: they must have one type", i,
                                   view.inputs[i]->to_string(), view.inputs[0]->to_string()));
  }
}

std::vector<TensorType> infer_binary(const NodeView& view) {
  check_same_dtypes(view);
  const BinaryOperator& entry = binary_operator(view);
  const DType dtype = view.inputs.at(0)->dtype;
  if (view.op() == "Mod" && entry.variant.empty() && is_float(dtype))
    throw InputError(fmt::format("fmod must be 1 for {}", name_of(dtype)));
  require_dtype(dtype, entry.dtypes, "input 0");
  const Shape shape = broadcast_inputs(view, 0, view.inputs.size());
  if (view.op() == "PRelu" && shape != view.shape(0))
    throw InputError(fmt::format("slope {} does not broadcast to the input {}", view.shape(1).to_string(),
                                 view.shape(0).to_string()));
  return {{entry.logical ? DType::boolean : dtype, shape}};
}

LayerCost cost_binary(const NodeView& view) {
  return elementwise_cost(view, std::max(1.0, static_cast<double>(view.inputs.size()) - 1));
}

/// out = op(... op(op(in0, in1), in2) ...), each step broadcast to the output; Mean divides at the end.
class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(const NodeView& view, BinaryRow row)
      : row_(row),
        mean_(view.op() == "Mean"),
        dtype_(view.outputs[0]->dtype),
        elements_(view.outputs[0]->shape.elements()),
        inputs_(view.inputs.size()),
        in_place_(*view.inputs[0] == *view.outputs[0]) {
    const Shape& out = view.outputs[0]->shape;
    for (std::size_t i = 1; i < inputs_; ++i) {
      const std::array<Shape, 2> operands = {i == 1 ? view.shape(0) : out, view.shape(i)};
      steps_.push_back(plan_broadcast(out, operands));
    }
  }

  void run(const KernelArguments& arguments) override {
    auto* y = static_cast<char*>(arguments.outputs[0]);
    const std::size_t out_size = size_of(dtype_);
    if (inputs_ == 1 && y != arguments.inputs[0])
      std::memcpy(y, arguments.inputs[0], static_cast<std::size_t>(elements_) * out_size);
    for (std::size_t i = 1; i < inputs_; ++i) {
      const auto* a = static_cast<const char*>(i == 1 ? arguments.inputs[0] : y);
      step(steps_[i - 1], a, static_cast<const char*>(arguments.inputs[i]), y);
    }
    if (mean_ && inputs_ > 1) divide(y);
  }

  bool in_place() const override { return in_place_; }
  void set_input_size(std::size_t size) { input_size_ = size; }

 private:
  void step(const BroadcastPlan& plan, const char* a, const char* b, char* y) const {
    const BroadcastPlan::Axis& row = plan.row();
    const auto in_size = static_cast<std::int64_t>(input_size_);
    const auto out_size = static_cast<std::int64_t>(size_of(dtype_));
    for_each_row(plan, [&](std::int64_t out, const BroadcastPlan::Offsets& in) {
      row_(a + in[0] * in_size, b + in[1] * in_size, y + out * out_size, row.extent, row.strides[0],
           row.strides[1]);
    });
  }

  void divide(void* data) const {
    dispatch(Floats{}, dtype_, [&](auto tag) {
      using T = typename decltype(tag)::type;
      T* y = static_cast<T*>(data);
      const auto count = static_cast<Compute<T>>(inputs_);
      for (std::int64_t i = 0; i < elements_; ++i) y[i] = T(Compute<T>(y[i]) / count);
    });
  }

  BinaryRow row_;
  bool mean_;
  DType dtype_;
  std::int64_t elements_;
  std::size_t inputs_;
  bool in_place_;
  std::size_t input_size_ = 0;
  std::vector<BroadcastPlan> steps_;
};

std::unique_ptr<Kernel> make_kernel(const NodeView& view, BinaryRow row) {
  auto kernel = std::make_unique<BinaryKernel>(view, row);
  kernel->set_input_size(size_of(view.inputs[0]->dtype));
  return kernel;
}

std::string refuses_vectorised(const NodeView& view, const KernelOptions&) {
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  if (binary_operator(view).vectorised == nullptr) return fmt::format("{} has no vector form", view.op());
  return {};
}

const Implementation kImplementations[] = {
    {"vectorised", refuses_vectorised,
     [](const NodeView& view, PrepareContext&) {
       return make_kernel(view, binary_operator(view).vectorised());
     }},
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) {
       return make_kernel(view, binary_operator(view).reference(view.inputs[0]->dtype));
     }},
};

Layer binary(std::string_view op, std::string_view summary, int min_inputs = 2, int max_inputs = 2) {
  Layer layer;
  layer.op = op;
  layer.summary = summary;
  layer.min_inputs = min_inputs;
  layer.max_inputs = max_inputs;
  layer.layout = LayoutRule::any;
  layer.infer = infer_binary;
  layer.cost = cost_binary;
  layer.permute = permute_elementwise;
  layer.implementations = kImplementations;
  return layer;
}

constexpr int kAnyNumber = 1 << 20;

}  // namespace

std::span<const Layer> binary_layers() {
  static const Layer layers[] = {
      binary("Add", "a + b"),
      binary("Sub", "a - b"),
      binary("Mul", "a b"),
      binary("Div", "a / b, integers truncate"),
      binary("Mod", "remainder, sign of the divisor (fmod: of the dividend)"),
      binary("Min", "least of the inputs", 1, kAnyNumber),
      binary("Max", "greatest of the inputs", 1, kAnyNumber),
      binary("Sum", "sum of the inputs", 1, kAnyNumber),
      binary("Mean", "mean of the inputs", 1, kAnyNumber),
      binary("PRelu", "x, or slope x where x < 0"),
      binary("BitShift", "a << b or a >> b"),
      binary("BitwiseAnd", "a & b of integers"),
      binary("BitwiseOr", "a | b of integers"),
      binary("BitwiseXor", "a ^ b of integers"),
      binary("Equal", "a == b"),
      binary("Greater", "a > b"),
      binary("GreaterOrEqual", "a >= b"),
      binary("Less", "a < b"),
      binary("LessOrEqual", "a <= b"),
      binary("And", "a and b"),
      binary("Or", "a or b"),
      binary("Xor", "a unlike b"),
      pow_layer(),
      where_layer(),
  };
  return layers;
}

}  // namespace espalier
