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

/// The slope of PRelu. Until opset 6 one number a channel stood as [C] and met axis 1; that is kept where it
/// cannot be meant for the last axis.
Shape slope_shape(const Shape& x, const Shape& slope) {
  if (slope.rank() != 1 || x.rank() < 3 || slope[0] == 1 || slope[0] == x[-1] || slope[0] != x[1])
    return slope;
  std::vector<std::int64_t> dims(static_cast<std::size_t>(x.rank() - 1), 1);
  dims[0] = slope[0];
  return Shape(std::move(dims));
}

std::vector<TensorType> infer_prelu(const NodeView& view) {
  const Shape slope = slope_shape(view.shape(0), view.shape(1));
  if (slope.rank() > view.shape(0).rank() || broadcast(view.shape(0), slope) != view.shape(0))
    throw InputError(fmt::format("slope {} does not broadcast to the input {}", slope.to_string(),
                                 view.shape(0).to_string()));
  return {*view.inputs[0]};
}

std::optional<std::vector<int>> permute_prelu(Graph& graph, Node& node, std::span<const int> perm) {
  const Shape& x = graph.type(node.inputs.at(0)).shape;
  const Shape& old = graph.type(node.inputs.at(1)).shape;
  const Shape slope = slope_shape(x, old);
  if (slope != old) {
    const Tensor* constant = graph.constant(node.inputs[1]);
    if (constant == nullptr || x.rank() != static_cast<int>(perm.size())) return std::nullopt;
    node.inputs[1] = graph.add_constant(node.name + "/slope", constant->reshaped(slope));
  }
  return permute_elementwise(graph, node, perm);
}

std::vector<TensorType> infer_binary(const NodeView& view) {
  check_same_dtypes(view);
  const BinaryOperator& entry = binary_operator(view);
  const DType dtype = view.inputs.at(0)->dtype;
  if (view.op() == "Mod" && entry.variant.empty() && is_float(dtype))
    throw InputError(fmt::format("fmod must be 1 for {}", name_of(dtype)));
  require_dtype(dtype, entry.dtypes, "input 0");
  if (view.op() == "PRelu") return infer_prelu(view);
  const Shape shape = broadcast_inputs(view, 0, view.inputs.size());
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
      const bool slope = view.op() == "PRelu";
      const std::array<Shape, 2> operands = {i == 1 ? view.shape(0) : out,
                                             slope ? slope_shape(out, view.shape(i)) : view.shape(i)};
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
  layer.permute = op == "PRelu" ? permute_prelu : permute_elementwise;
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
