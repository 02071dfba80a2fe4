#include "layers/reduce/reduce.hpp"

#include <array>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/simd.hpp"
#include "layers/reduce/reduce_axes.hpp"
#include "layers/reduce/reducers.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kBlock = 512;  ///< results gathered side by side: their states stay in the first cache
constexpr int kLanes = 16;            ///< independent partial results along a row

using Run = void (*)(const ReducePlan& plan, const void* x, void* y);

/// Results of n elements that lie together, gathered in kLanes partial results.
template <class R, class T, class S>
[[gnu::always_inline]] inline S reduce_row(S state, const T* x, std::int64_t n) {
  using C = Compute<T>;
  std::array<S, kLanes> lanes;
  lanes.fill(R::template start<S>());
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = R::step(lanes[lane], C(x[i + lane]));
  for (; i < n; ++i) state = R::step(state, C(x[i]));
  for (const S& lane : lanes) state = R::merge(state, lane);
  return state;
}

template <class R, class T>
[[gnu::always_inline]] inline void reduce(const ReducePlan& plan, const void* px, void* py) {
  using C = Compute<T>;
  using S = typename R::template State<C>;
  const T* x = static_cast<const T*>(px);
  T* y = static_cast<T*>(py);
  const auto result = [&](const S& s) { return T(convert_element<T>(R::finish(s, plan.count))); };
  for_each_row(plan.kept, [&](std::int64_t out, const BroadcastPlan::Offsets& kept) {
    if (plan.inner_reduced) {
      S state = R::template start<S>();
      for_each_row(plan.reduced, [&](std::int64_t, const BroadcastPlan::Offsets& gone) {
        state = reduce_row<R, T, S>(state, x + kept[0] + gone[0], plan.inner);
      });
      y[out] = result(state);
      return;
    }
    for (std::int64_t first = 0; first < plan.inner; first += kBlock) {
      const std::int64_t n = std::min(kBlock, plan.inner - first);
      std::array<S, kBlock> states;
      std::fill_n(states.begin(), n, R::template start<S>());
      for_each_row(plan.reduced, [&](std::int64_t, const BroadcastPlan::Offsets& gone) {
        const T* source = x + kept[0] + gone[0] + first;
        for (std::int64_t i = 0; i < n; ++i) states[i] = R::step(states[i], C(source[i]));
      });
      for (std::int64_t i = 0; i < n; ++i) y[out + first + i] = result(states[i]);
    }
  });
}

template <class R, class T>
void baseline(const ReducePlan& plan, const void* x, void* y) {
  reduce<R, T>(plan, x, y);
}

using Common =
    Types<float, double, Float16, BFloat16, std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

struct Reduction {
  std::string_view op;
  std::string_view summary;
  std::span<const DType> dtypes;
  double flops;  ///< of one element
  Run (*reference)(DType);
};

template <class R, class List>
Reduction entry(std::string_view op, std::string_view summary, double flops = 1) {
  return {op, summary, dtypes_of(List{}), flops, [](DType t) {
            return dispatch(List{}, t,
                            [](auto tag) -> Run { return &baseline<R, typename decltype(tag)::type>; });
          }};
}

std::span<const Reduction> table() {
  static const Reduction entries[] = {
      entry<reducers::Sum, Common>("ReduceSum", "sum over axes"),
      entry<reducers::Mean, Common>("ReduceMean", "mean over axes"),
      entry<reducers::Max, Numeric>("ReduceMax", "greatest over axes"),
      entry<reducers::Min, Numeric>("ReduceMin", "least over axes"),
      entry<reducers::Prod, Common>("ReduceProd", "product over axes"),
      entry<reducers::L1, Common>("ReduceL1", "sum of |x| over axes", 2),
      entry<reducers::L2, Common>("ReduceL2", "square root of the sum of squares over axes", 2),
      entry<reducers::LogSum, Common>("ReduceLogSum", "logarithm of the sum over axes"),
      entry<reducers::LogSumExp, Common>("ReduceLogSumExp", "logarithm of the sum of e^x over axes", 12),
      entry<reducers::SumSquare, Common>("ReduceSumSquare", "sum of squares over axes", 2),
  };
  return entries;
}

const Reduction& find(const NodeView& view) {
  for (const Reduction& r : table())
    if (r.op == view.op()) return r;
  throw InternalError(fmt::format("{} is not a reduction", view.op()));
}

std::vector<TensorType> infer(const NodeView& view) {
  if (!view.has_input(0)) throw InputError("input 0 is missing");
  require_dtype(view.inputs[0]->dtype, find(view).dtypes, "input 0");
  const bool keepdims = view.attributes().get_int("keepdims", 1) != 0;
  return {{view.inputs[0]->dtype, reduced_shape(view.shape(0), reduced_axes(view), keepdims)}};
}

LayerCost cost(const NodeView& view) {
  LayerCost c = elementwise_cost(view, 0);
  c.flops = Flops(find(view).flops * static_cast<double>(view.shape(0).elements()));
  return c;
}

class ReduceKernel final : public Kernel {
 public:
  explicit ReduceKernel(const NodeView& view)
      : plan_(plan_reduction(view.shape(0), reduced_axes(view))),
        run_(find(view).reference(view.inputs[0]->dtype)) {}
  void run(const KernelArguments& arguments) override {
    run_(plan_, arguments.inputs[0], arguments.outputs[0]);
  }

 private:
  ReducePlan plan_;
  Run run_;
};

const Implementation kImplementations[] = {
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     [](const NodeView& view, PrepareContext&) -> std::unique_ptr<Kernel> {
       return std::make_unique<ReduceKernel>(view);
     }},
};

std::vector<Layer> make_layers() {
  std::vector<Layer> layers;
  for (const Reduction& r : table()) {
    Layer layer;
    layer.op = r.op;
    layer.summary = r.summary;
    layer.max_inputs = 2;
    layer.layout = LayoutRule::any;
    layer.infer = infer;
    layer.cost = cost;
    layer.permute = permute_reduce;
    layer.implementations = kImplementations;
    layers.push_back(layer);
  }
  return layers;
}

}  // namespace

std::span<const Layer> reduce_layers() {
  static const std::vector<Layer> layers = make_layers();
  return layers;
}

}  // namespace espalier
