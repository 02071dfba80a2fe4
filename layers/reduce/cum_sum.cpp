#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/permute.hpp"
#include "layers/elementwise/binary_functors.hpp"
#include "layers/reduce/axis_layers.hpp"
#include "layers/reduce/one_axis.hpp"

namespace espalier {
namespace {

using Served =
    Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

std::int64_t constant_axis(const Tensor& t) {
  return t.to_int64()[0];
}

std::vector<TensorType> infer(const NodeView& view) {
  for (std::size_t i = 0; i < 2; ++i)
    if (!view.has_input(i)) throw InputError(fmt::format("input {} is missing", i));
  require_dtype(view.inputs[0]->dtype, dtypes_of(Served{}), "input 0");
  require_dtype(view.inputs[1]->dtype, dtypes_of(Types<std::int32_t, std::int64_t>{}), "axis");
  if (view.shape(1).elements() != 1)
    throw InputError(fmt::format("axis is {}; one number is needed", view.inputs[1]->to_string()));
  if (view.shape(0).rank() == 0) throw InputError("a scalar has no axis to sum along");
  if (view.constants[1] != nullptr) normalise_axis(constant_axis(*view.constants[1]), view.shape(0).rank());
  return {*view.inputs[0]};
}

using Run = void (*)(const void* x, void* y, const OneAxis& axis, bool exclusive, bool reverse);

template <class T>
void run_cum_sum(const void* px, void* py, const OneAxis& axis, bool exclusive, bool reverse) {
  using C = Compute<T>;
  using Sum = std::conditional_t<std::is_floating_point_v<C>, double, C>;
  const T* x = static_cast<const T*>(px);
  T* y = static_cast<T*>(py);
  for (std::int64_t o = 0; o < axis.outer; ++o)
    for (std::int64_t i = 0; i < axis.inner; ++i) {
      Sum sum{};
      for (std::int64_t n = 0; n < axis.extent; ++n) {
        const std::int64_t k = reverse ? axis.extent - 1 - n : n;
        const std::int64_t at = (o * axis.extent + k) * axis.inner + i;
        const Sum next = functors::Add{}(sum, static_cast<Sum>(C(x[at])));
        y[at] = convert_element<T>(exclusive ? sum : next);
        sum = next;
      }
    }
}

class CumSumKernel final : public Kernel {
 public:
  explicit CumSumKernel(const NodeView& view)
      : shape_(view.shape(0)),
        wide_axis_(view.inputs[1]->dtype == DType::i64),
        exclusive_(view.attributes().get_int("exclusive", 0) != 0),
        reverse_(view.attributes().get_int("reverse", 0) != 0) {
    run_ = dispatch(Served{}, view.inputs[0]->dtype,
                    [](auto tag) -> Run { return &run_cum_sum<typename decltype(tag)::type>; });
  }
  /// InputError when an axis that was not known before is outside the rank.
  void run(const KernelArguments& arguments) override {
    const void* p = arguments.inputs[1];
    const std::int64_t axis =
        wide_axis_ ? *static_cast<const std::int64_t*>(p) : *static_cast<const std::int32_t*>(p);
    run_(arguments.inputs[0], arguments.outputs[0], one_axis(shape_, normalise_axis(axis, shape_.rank())),
         exclusive_, reverse_);
  }
  bool in_place() const override { return true; }

 private:
  Shape shape_;
  bool wide_axis_;
  bool exclusive_;
  bool reverse_;
  Run run_ = nullptr;
};

const Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<CumSumKernel>(view);
     }},
};

std::optional<std::vector<int>> permute(Graph& graph, Node& node, std::span<const int> perm) {
  const int rank = graph.type(node.inputs.at(0)).shape.rank();
  const Tensor* axis = graph.constant(node.inputs.at(1));
  if (axis == nullptr || rank != static_cast<int>(perm.size())) return std::nullopt;
  const int old = normalise_axis(constant_axis(*axis), rank);
  const std::int64_t place = inverse_permutation(perm)[static_cast<std::size_t>(old)];
  node.inputs[1] = graph.add_constant(node.name + "/axis", Tensor::scalar<std::int64_t>(place));
  return std::vector<int>(perm.begin(), perm.end());
}

}  // namespace

Layer cum_sum_layer() {
  Layer layer;
  layer.op = "CumSum";
  layer.summary = "running sum along an axis";
  layer.min_inputs = layer.max_inputs = 2;
  layer.layout = LayoutRule::any;
  layer.infer = infer;
  layer.cost = axis_cost;
  layer.permute = permute;
  layer.implementations = kImplementations;
  return layer;
}

}  // namespace espalier
