#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/simd.hpp"
#include "layers/movement/mapped_copy.hpp"
#include "layers/movement/movement.hpp"
#include "layers/movement/resize_taps.hpp"

namespace espalier {
namespace {

std::vector<TensorType> infer(const NodeView& view) {
  if (view.inputs[0]->dtype == DType::boolean && view.attributes().get_string("mode", "nearest") != "nearest")
    throw InputError("booleans can be resized with mode nearest only");
  return {{view.inputs[0]->dtype, resized_shape(view)}};
}

LayerCost cost(const NodeView& view) {
  LayerCost c = movement_cost(view);
  const std::string mode = view.attributes().get_string("mode", "nearest");
  const double taps = mode == "nearest" ? 0 : mode == "linear" ? 2 : 4;
  int axes = 0;
  for (int a = 0; a < view.shape(0).rank(); ++a) axes += view.shape(0)[a] != view.outputs[0]->shape[a];
  c.flops = Flops(2 * taps * axes * static_cast<double>(view.outputs[0]->shape.elements()));
  return c;
}

// ---- nearest: positions only, any dtype

std::string refuses_nearest(const NodeView& view, const KernelOptions&) {
  if (view.attributes().get_string("mode", "nearest") != "nearest") return "the mode is not nearest";
  return plan_resize(view).extrapolates ? "some positions are extrapolated" : "";
}

std::unique_ptr<Kernel> prepare_nearest(const NodeView& view, PrepareContext&) {
  std::vector<std::vector<std::int64_t>> positions;
  for (AxisTaps& axis : plan_resize(view).axes) positions.push_back(std::move(axis.index));
  return make_mapped_kernel(view, positions);
}

// ---- separable: one weighted pass an axis, the cheapest first

struct Pass {
  std::int64_t outer = 1, in = 1, out = 1, inner = 1;
  int taps = 1;
  std::vector<std::int64_t> index;
  std::vector<float> weight;
};

inline __attribute__((always_inline)) void run_pass_body(const Pass& pass, const float* src, float* dst) {
  const std::int64_t inner = pass.inner;
  for (std::int64_t o = 0; o < pass.outer; ++o, src += pass.in * inner)
    for (std::int64_t j = 0; j < pass.out; ++j, dst += inner) {
      const std::int64_t* index = pass.index.data() + j * pass.taps;
      const float* weight = pass.weight.data() + j * pass.taps;
      if (inner == 1) {
        float sum = 0;
        for (int k = 0; k < pass.taps; ++k) sum += weight[k] * src[index[k]];
        dst[0] = sum;
        continue;
      }
      if (pass.taps == 2) {
        const float* a = src + index[0] * inner;
        const float* b = src + index[1] * inner;
        const float wa = weight[0], wb = weight[1];
        ESPALIER_INDEPENDENT
        for (std::int64_t i = 0; i < inner; ++i) dst[i] = wa * a[i] + wb * b[i];
        continue;
      }
      std::fill(dst, dst + inner, 0.0F);
      for (int k = 0; k < pass.taps; ++k) {
        const float* a = src + index[k] * inner;
        const float w = weight[k];
        ESPALIER_INDEPENDENT
        for (std::int64_t i = 0; i < inner; ++i) dst[i] += w * a[i];
      }
    }
}
void run_pass_baseline(const Pass& pass, const float* src, float* dst) {
  run_pass_body(pass, src, dst);
}
ESPALIER_TARGET_AVX2 void run_pass_avx2(const Pass& pass, const float* src, float* dst) {
  run_pass_body(pass, src, dst);
}
ESPALIER_TARGET_AVX512 void run_pass_avx512(const Pass& pass, const float* src, float* dst) {
  run_pass_body(pass, src, dst);
}

class SeparableKernel final : public Kernel {
 public:
  explicit SeparableKernel(const NodeView& view) : plan_(plan_resize(view)) {
    Shape shape = view.shape(0);
    std::vector<int> order;
    for (int a = 0; a < shape.rank(); ++a)
      if (!plan_.axes[static_cast<std::size_t>(a)].identity) order.push_back(a);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return plan_.out[a] * shape[b] < plan_.out[b] * shape[a]; });
    for (int a : order) {
      const AxisTaps& axis = plan_.axes[static_cast<std::size_t>(a)];
      passes_.push_back({shape.elements(0, a), axis.in, axis.out, shape.elements(a + 1, shape.rank()),
                         axis.taps, axis.index, std::vector<float>(axis.weight.begin(), axis.weight.end())});
      shape[a] = axis.out;
      if (passes_.size() < order.size()) buffer_ = std::max(buffer_, (shape.elements() + 15) / 16 * 16);
    }
    elements_ = shape.elements();
    run_pass_ = isa() == Isa::avx512 ? run_pass_avx512
                : isa() == Isa::avx2 ? run_pass_avx2
                                     : run_pass_baseline;
  }
  std::size_t scratch_bytes() const override {
    return passes_.size() < 2 ? 0 : static_cast<std::size_t>(buffer_) * sizeof(float) * 2;
  }
  void run(const KernelArguments& arguments) override {
    auto* out = static_cast<float*>(arguments.outputs[0]);
    const auto* src = static_cast<const float*>(arguments.inputs[0]);
    if (elements_ == 0) return;
    if (passes_.empty()) std::copy(src, src + elements_, out);
    for (std::size_t p = 0; p < passes_.size(); ++p) {
      float* dst = p + 1 == passes_.size()
                       ? out
                       : static_cast<float*>(arguments.scratch) + static_cast<std::int64_t>(p % 2) * buffer_;
      run_pass_(passes_[p], src, dst);
      src = dst;
    }
    if (plan_.extrapolates) extrapolate(0, out, false);
  }

 private:
  void extrapolate(std::size_t axis, float*& out, bool outside) const {
    if (axis == plan_.axes.size()) {
      if (outside) *out = static_cast<float>(plan_.extrapolation_value);
      ++out;
      return;
    }
    for (bool o : plan_.axes[axis].outside) extrapolate(axis + 1, out, outside || o);
  }

  ResizePlan plan_;
  std::vector<Pass> passes_;
  std::int64_t buffer_ = 0;
  std::int64_t elements_ = 0;
  void (*run_pass_)(const Pass&, const float*, float*);
};

std::string refuses_separable(const NodeView& view, const KernelOptions&) {
  return view.inputs[0]->dtype == DType::f32 ? "" : "the data is not float32";
}

std::unique_ptr<Kernel> prepare_separable(const NodeView& view, PrepareContext&) {
  return std::make_unique<SeparableKernel>(view);
}

// ---- reference: every output element as the full sum over all axes' taps, in double

template <class T>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const NodeView& view)
      : plan_(plan_resize(view)), strides_(view.shape(0).strides()), at_(strides_.size()) {}
  void run(const KernelArguments& arguments) override {
    auto* out = static_cast<T*>(arguments.outputs[0]);
    fill(0, static_cast<const T*>(arguments.inputs[0]), out, false);
  }

 private:
  void fill(std::size_t axis, const T* in, T*& out, bool outside) {
    if (axis < plan_.axes.size()) {
      for (at_[axis] = 0; at_[axis] < plan_.axes[axis].out; ++at_[axis])
        fill(axis + 1, in, out, outside || plan_.axes[axis].outside[static_cast<std::size_t>(at_[axis])]);
      return;
    }
    const double value = outside ? plan_.extrapolation_value : sum(0, in);
    *out++ = convert_element<T>(value);
  }
  double sum(std::size_t axis, const T* in) const {
    if (axis == plan_.axes.size()) return static_cast<double>(static_cast<Compute<T>>(*in));
    const AxisTaps& taps = plan_.axes[axis];
    double total = 0;
    for (int k = 0; k < taps.taps; ++k) {
      const auto i = static_cast<std::size_t>(at_[axis] * taps.taps + k);
      if (taps.weight[i] != 0) total += taps.weight[i] * sum(axis + 1, in + taps.index[i] * strides_[axis]);
    }
    return total;
  }

  ResizePlan plan_;
  std::vector<std::int64_t> strides_;
  std::vector<std::int64_t> at_;
};

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return dispatch(AllTypes{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<ReferenceKernel<typename decltype(tag)::type>>(view);
  });
}

template <class T>
Tensor permuted_halves(const Tensor& tensor, std::span<const int> perm) {
  const auto old = tensor.as<T>();
  std::vector<T> moved;
  for (std::size_t half = 0; half < old.size(); half += perm.size())
    for (int p : perm) moved.push_back(old[half + static_cast<std::size_t>(p)]);
  return Tensor::of<T>(tensor.shape(), moved);
}

std::optional<std::vector<int>> permute(Graph& graph, Node& node, std::span<const int> perm) {
  if (!others_are_constant(graph, node)) return std::nullopt;
  if (node.attributes.has("axes")) {
    const std::vector<int> inverse = inverse_permutation(perm);
    std::vector<std::int64_t> axes = node.attributes.get_ints("axes");
    for (std::int64_t& a : axes)
      a = inverse[static_cast<std::size_t>(normalise_axis(a, static_cast<int>(perm.size())))];
    node.attributes.set("axes", axes);
    return std::vector<int>(perm.begin(), perm.end());
  }
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor* old = graph.constant(node.inputs[i]);
    if (old != nullptr && old->dtype() != DType::f32 && old->dtype() != DType::i64) return std::nullopt;
  }
  for (std::size_t i = 1; i < node.inputs.size(); ++i) {
    const Tensor* old = graph.constant(node.inputs[i]);
    if (old == nullptr || old->elements() == 0) continue;
    const std::string name = fmt::format("{}.permuted.{}", node.name, i);
    node.inputs[i] =
        graph.add_constant(name, old->dtype() == DType::f32 ? permuted_halves<float>(*old, perm)
                                                            : permuted_halves<std::int64_t>(*old, perm));
  }
  return std::vector<int>(perm.begin(), perm.end());
}

constexpr Implementation kImplementations[] = {{"mapped", refuses_nearest, prepare_nearest},
                                               {"separable", refuses_separable, prepare_separable},
                                               {"reference", never_refuses, prepare_reference}};

}  // namespace

Layer resize_layer() {
  return {.op = "Resize",
          .summary = "resamples: nearest, linear, cubic, antialiased",
          .max_inputs = 4,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost = cost,
          .permute = permute,
          .implementations = kImplementations};
}

}  // namespace espalier
