#include "layers/elementwise/where.hpp"

#include <array>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/broadcast.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/permute.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer(const NodeView& view) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!view.has_input(i)) throw InputError(fmt::format("input {} is missing", i));
  require_dtype(view.inputs[0]->dtype, dtypes_of(Booleans{}), "the condition");
  if (view.inputs[1]->dtype != view.inputs[2]->dtype)
    throw InputError(fmt::format("input 1 is {}, input 2 is {}: they must have one type",
                                 view.inputs[1]->to_string(), view.inputs[2]->to_string()));
  return {{view.inputs[1]->dtype, broadcast_inputs(view, 0, 3)}};
}

using Row = void (*)(const std::uint8_t* c, const void* x, const void* y, void* out,
                     const BroadcastPlan::Axis& axis);

/// W: unsigned integer as wide as the element.
template <class W>
void select_row(const std::uint8_t* c, const void* px, const void* py, void* pout,
                const BroadcastPlan::Axis& axis) {
  const W* x = static_cast<const W*>(px);
  const W* y = static_cast<const W*>(py);
  W* out = static_cast<W*>(pout);
  const auto [sc, sx, sy] = axis.strides;
  for (std::int64_t i = 0; i < axis.extent; ++i) {
    const W a = x[i * sx];
    const W b = y[i * sy];
    out[i] = c[i * sc] != 0 ? a : b;
  }
}

Row row_of(std::size_t size) {
  switch (size) {
    case 1:
      return &select_row<std::uint8_t>;
    case 2:
      return &select_row<std::uint16_t>;
    case 4:
      return &select_row<std::uint32_t>;
    default:
      return &select_row<std::uint64_t>;
  }
}

class WhereKernel final : public Kernel {
 public:
  explicit WhereKernel(const NodeView& view)
      : size_(static_cast<std::int64_t>(size_of(view.outputs[0]->dtype))),
        row_(row_of(size_of(view.outputs[0]->dtype))) {
    const std::array<Shape, 3> shapes = {view.shape(0), view.shape(1), view.shape(2)};
    plan_ = plan_broadcast(view.outputs[0]->shape, shapes);
  }
  void run(const KernelArguments& arguments) override {
    const auto* c = static_cast<const std::uint8_t*>(arguments.inputs[0]);
    const auto* x = static_cast<const char*>(arguments.inputs[1]);
    const auto* y = static_cast<const char*>(arguments.inputs[2]);
    auto* out = static_cast<char*>(arguments.outputs[0]);
    for_each_row(plan_, [&](std::int64_t offset, const BroadcastPlan::Offsets& in) {
      row_(c + in[0], x + in[1] * size_, y + in[2] * size_, out + offset * size_, plan_.row());
    });
  }

 private:
  std::int64_t size_;
  Row row_;
  BroadcastPlan plan_;
};

const Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<WhereKernel>(view);
     }},
};

}  // namespace

Layer where_layer() {
  Layer layer;
  layer.op = "Where";
  layer.summary = "x where the condition holds, else y";
  layer.min_inputs = layer.max_inputs = 3;
  layer.layout = LayoutRule::any;
  layer.infer = infer;
  layer.cost = [](const NodeView& view) { return elementwise_cost(view, 1); };
  layer.permute = permute_elementwise;
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace espalier
