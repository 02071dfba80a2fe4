#include "layers/softmax/softmax.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/permute.hpp"
#include "layers/common/vector_math.hpp"

namespace espalier {
namespace {

int axis_of(const NodeView& view) {
  return normalise_axis(view.attributes().get_int("axis", -1), view.shape(0).rank());
}

std::vector<TensorType> infer(const NodeView& view) {
  require_dtype(view.inputs[0]->dtype, dtypes_of(Floats{}), "input");
  if (view.shape(0).rank() == 0) throw InputError("input is a scalar; at least one axis is needed");
  axis_of(view);
  return {*view.inputs[0]};
}

LayerCost cost(const NodeView& view) {
  const auto n = static_cast<double>(view.shape(0).elements());
  const Bytes bytes(view.inputs[0]->bytes());
  return {Flops(5 * n), bytes, bytes};
}

/// [outer, n, inner]: the axis and what lies around it.
struct Extents {
  explicit Extents(const NodeView& view) {
    const Shape& shape = view.shape(0);
    const int axis = axis_of(view);
    outer = shape.elements(0, axis);
    n = shape[axis];
    inner = shape.elements(axis + 1, shape.rank());
  }
  std::int64_t outer, n, inner;
};

// ---- rows: the axis is the last one that is not 1

template <bool kLog>
struct Row {
  static ESPALIER_INLINE void run(const float* x, float* y, std::int64_t rows, std::int64_t n) {
    for (; rows > 0; --rows, x += n, y += n) {
      constexpr int kLanes = 16;  // independent partial results, combined at the end
      float largest[kLanes], sum[kLanes];
      std::fill(largest, largest + kLanes, -std::numeric_limits<float>::infinity());
      std::fill(sum, sum + kLanes, 0.0F);
      const std::int64_t whole = n / kLanes * kLanes;
      for (std::int64_t i = 0; i < whole; i += kLanes)
        for (int k = 0; k < kLanes; ++k) largest[k] = largest[k] < x[i + k] ? x[i + k] : largest[k];
      float top = -std::numeric_limits<float>::infinity();
      for (std::int64_t i = whole; i < n; ++i) top = top < x[i] ? x[i] : top;
      for (float l : largest) top = top < l ? l : top;
      for (std::int64_t i = 0; i < whole; i += kLanes)
        for (int k = 0; k < kLanes; ++k) {
          const float e = fast_exp(x[i + k] - top);
          sum[k] += e;
          y[i + k] = kLog ? x[i + k] - top : e;
        }
      float total = 0;
      for (std::int64_t i = whole; i < n; ++i) {
        const float e = fast_exp(x[i] - top);
        total += e;
        y[i] = kLog ? x[i] - top : e;
      }
      for (float s : sum) total += s;
      const float scale = kLog ? std::log(total) : 1.0F / total;
      ESPALIER_INDEPENDENT
      for (std::int64_t i = 0; i < n; ++i) y[i] = kLog ? y[i] - scale : y[i] * scale;
    }
  }
};

// ---- columns: the axis has others behind it; `inner` neighbours are done side by side

template <bool kLog>
struct Columns {
  static ESPALIER_INLINE void run(const float* x, float* y, std::int64_t outer, std::int64_t n,
                                  std::int64_t inner) {
    constexpr std::int64_t kBlock = 64;
    float top[kBlock], sum[kBlock];
    for (std::int64_t o = 0; o < outer; ++o, x += n * inner, y += n * inner)
      for (std::int64_t first = 0; first < inner; first += kBlock) {
        const std::int64_t m = std::min(kBlock, inner - first);
        std::fill(top, top + m, -std::numeric_limits<float>::infinity());
        std::fill(sum, sum + m, 0.0F);
        for (std::int64_t j = 0; j < n; ++j) {
          const float* row = x + j * inner + first;
          for (std::int64_t i = 0; i < m; ++i) top[i] = top[i] < row[i] ? row[i] : top[i];
        }
        for (std::int64_t j = 0; j < n; ++j) {
          const float* row = x + j * inner + first;
          float* out = y + j * inner + first;
          ESPALIER_INDEPENDENT
          for (std::int64_t i = 0; i < m; ++i) {
            const float d = row[i] - top[i];
            const float e = fast_exp(d);
            sum[i] += e;
            out[i] = kLog ? d : e;
          }
        }
        for (std::int64_t i = 0; i < m; ++i) sum[i] = kLog ? std::log(sum[i]) : 1.0F / sum[i];
        for (std::int64_t j = 0; j < n; ++j) {
          float* out = y + j * inner + first;
          ESPALIER_INDEPENDENT
          for (std::int64_t i = 0; i < m; ++i) out[i] = kLog ? out[i] - sum[i] : out[i] * sum[i];
        }
      }
  }
};

template <bool kLog>
class VectorKernel final : public Kernel {
 public:
  explicit VectorKernel(const NodeView& view) : extents_(view) {}
  bool in_place() const override { return true; }
  void run(const KernelArguments& arguments) override {
    const auto* x = static_cast<const float*>(arguments.inputs[0]);
    auto* y = static_cast<float*>(arguments.outputs[0]);
    if (extents_.inner == 1)
      simd_call<Row<kLog>>(x, y, extents_.outer, extents_.n);
    else
      simd_call<Columns<kLog>>(x, y, extents_.outer, extents_.n, extents_.inner);
  }

 private:
  Extents extents_;
};

std::string refuses_vector(const NodeView& view, const KernelOptions&) {
  return view.inputs[0]->dtype == DType::f32 ? "" : "the data is not float32";
}

template <bool kLog>
std::unique_ptr<Kernel> prepare_vector(const NodeView& view, PrepareContext&) {
  return std::make_unique<VectorKernel<kLog>>(view);
}

template <class T>
class ReferenceKernel final : public Kernel {
 public:
  ReferenceKernel(const NodeView& view, bool log) : extents_(view), log_(log) {}
  bool in_place() const override { return true; }
  void run(const KernelArguments& arguments) override {
    const auto* x = static_cast<const T*>(arguments.inputs[0]);
    auto* y = static_cast<T*>(arguments.outputs[0]);
    const std::int64_t outer = extents_.outer, n = extents_.n, inner = extents_.inner;
    for (std::int64_t o = 0; o < outer; ++o)
      for (std::int64_t i = 0; i < inner; ++i) {
        const std::int64_t first = o * n * inner + i;
        const auto at = [&](std::int64_t j) { return static_cast<double>(Compute<T>(x[first + j * inner])); };
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        for (std::int64_t j = 0; j < n; ++j) top = std::max(top, at(j));
        for (std::int64_t j = 0; j < n; ++j) sum += std::exp(at(j) - top);
        for (std::int64_t j = 0; j < n; ++j) {
          const double d = at(j) - top;
          y[first + j * inner] = T(static_cast<Compute<T>>(log_ ? d - std::log(sum) : std::exp(d) / sum));
        }
      }
  }

 private:
  Extents extents_;
  bool log_;
};

template <bool kLog>
std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return dispatch(Floats{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<ReferenceKernel<typename decltype(tag)::type>>(view, kLog);
  });
}

std::optional<std::vector<int>> permute(Graph&, Node& node, std::span<const int> perm) {
  const int axis = normalise_axis(node.attributes.get_int("axis", -1), static_cast<int>(perm.size()));
  node.attributes.set("axis", std::int64_t{inverse_permutation(perm)[static_cast<std::size_t>(axis)]});
  return std::vector<int>(perm.begin(), perm.end());
}

template <bool kLog>
constexpr Implementation kImplementations[] = {
    {"vector", refuses_vector, prepare_vector<kLog>},
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); },
     prepare_reference<kLog>}};

template <bool kLog>
Layer layer(std::string_view op, std::string_view summary) {
  return {.op = op,
          .summary = summary,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost = cost,
          .permute = permute,
          .implementations = kImplementations<kLog>};
}

}  // namespace

std::span<const Layer> softmax_layers() {
  static const std::vector<Layer> layers{
      layer<false>("Softmax", "exp(x) over its sum along an axis"),
      layer<true>("LogSoftmax", "x minus the logarithm of the sum of exp(x) along an axis")};
  return layers;
}

}  // namespace espalier
