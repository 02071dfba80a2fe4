#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/broadcast.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/simd.hpp"
#include "layers/norm/norm.hpp"

namespace espalier {
namespace {

int axis_of(const NodeView& view) {
  return normalise_axis(view.attributes().get_int("axis", -1), view.shape(0).rank());
}

/// Shape of what is normalised together: the axes from `axis` on.
Shape row_shape(const NodeView& view) {
  const Shape& shape = view.shape(0);
  return Shape(std::vector<std::int64_t>(shape.begin() + axis_of(view), shape.end()));
}

std::vector<TensorType> infer(const NodeView& view) {
  require_dtype(view.inputs[0]->dtype, dtypes_of(Floats{}), "input");
  if (view.attributes().get_int("stash_type", 1) != 1)
    throw InputError(fmt::format("stash_type is {}; only 1 (float32 statistics) is accepted",
                                 view.attributes().get_int("stash_type", 1)));
  const Shape row = row_shape(view);
  for (std::size_t i = 1; i < 3; ++i) {
    const char* what = i == 1 ? "Scale" : "B";
    if (i == 1 && !view.has_input(1)) throw InputError("input 1 (Scale) is missing");
    if (!view.has_input(i)) continue;
    if (view.inputs[i]->dtype != view.inputs[0]->dtype || broadcast(row, view.shape(i)) != row)
      throw InputError(fmt::format("{} is {}; it must broadcast to {} {}, the axes from {} on of {}", what,
                                   view.inputs[i]->to_string(), name_of(view.inputs[0]->dtype),
                                   row.to_string(), axis_of(view), view.shape(0).to_string()));
  }
  std::vector<TensorType> out{*view.inputs[0]};
  TensorType statistics{DType::f32, view.shape(0)};
  for (int a = axis_of(view); a < statistics.shape.rank(); ++a) statistics.shape[a] = 1;
  while (out.size() < view.node.outputs.size()) out.push_back(statistics);
  return out;
}

constexpr int kLanes = 16;

/// Two passes for the statistics in partial sums of 16 lanes, one for the result.
struct Rows {
  static ESPALIER_INLINE float sum(const float* x, std::int64_t n, float centre, bool squares) {
    float lanes[kLanes] = {};
    const std::int64_t whole = n / kLanes * kLanes;
    for (std::int64_t i = 0; i < whole; i += kLanes)
      for (int k = 0; k < kLanes; ++k) {
        const float d = x[i + k] - centre;
        lanes[k] += squares ? d * d : d;
      }
    float total = 0;
    for (std::int64_t i = whole; i < n; ++i) {
      const float d = x[i] - centre;
      total += squares ? d * d : d;
    }
    for (float l : lanes) total += l;
    return total;
  }
  static ESPALIER_INLINE void run(const float* x, float* y, const float* scale, const float* bias,
                                  float* mean_out, float* inverse_out, std::int64_t rows, std::int64_t n,
                                  float epsilon) {
    const auto count = static_cast<float>(n);
    for (std::int64_t r = 0; r < rows; ++r, x += n, y += n) {
      const float centre = n > 0 ? x[0] : 0;  // keeps the sums small
      const float mean = centre + sum(x, n, centre, false) / count;
      const float inverse = 1.0F / std::sqrt(sum(x, n, mean, true) / count + epsilon);
      if (mean_out != nullptr) mean_out[r] = mean;
      if (inverse_out != nullptr) inverse_out[r] = inverse;
      if (bias != nullptr) {
        ESPALIER_INDEPENDENT
        for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * scale[i] + bias[i];
      } else {
        ESPALIER_INDEPENDENT
        for (std::int64_t i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * scale[i];
      }
    }
  }
};

class VectorKernel final : public Kernel {
 public:
  explicit VectorKernel(const NodeView& view)
      : rows_(view.shape(0).elements(0, axis_of(view))),
        n_(row_shape(view).elements()),
        epsilon_(static_cast<float>(view.attributes().get_float("epsilon", 1e-5))) {}
  bool in_place() const override { return true; }
  void run(const KernelArguments& arguments) override {
    const auto in = [&](std::size_t i) {
      return i < arguments.inputs.size() ? static_cast<const float*>(arguments.inputs[i]) : nullptr;
    };
    const auto out = [&](std::size_t i) {
      return i < arguments.outputs.size() ? static_cast<float*>(arguments.outputs[i]) : nullptr;
    };
    simd_call<Rows>(in(0), out(0), in(1), in(2), out(1), out(2), rows_, n_, epsilon_);
  }

 private:
  std::int64_t rows_, n_;
  float epsilon_;
};

std::string refuses_vector(const NodeView& view, const KernelOptions&) {
  const std::int64_t n = row_shape(view).elements();
  for (std::size_t i = 1; i < 3; ++i)
    if (view.has_input(i) && view.shape(i).elements() != n) return "scale or bias is broadcast";
  return refuses_all_but_float32(view);
}

template <class T>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const NodeView& view)
      : rows_(view.shape(0).elements(0, axis_of(view))),
        row_(row_shape(view)),
        epsilon_(view.attributes().get_float("epsilon", 1e-5)) {
    std::vector<Shape> shapes;
    for (std::size_t i = 1; i < 3; ++i) shapes.push_back(view.has_input(i) ? view.shape(i) : Shape{});
    plan_ = plan_broadcast(row_, shapes);
  }
  void run(const KernelArguments& arguments) override {
    const auto* x = static_cast<const T*>(arguments.inputs[0]);
    const auto* scale = static_cast<const T*>(arguments.inputs[1]);
    const auto* bias = arguments.inputs.size() > 2 ? static_cast<const T*>(arguments.inputs[2]) : nullptr;
    auto* y = static_cast<T*>(arguments.outputs[0]);
    const std::int64_t n = row_.elements();
    for (std::int64_t r = 0; r < rows_; ++r, x += n, y += n) {
      double mean = 0, variance = 0;
      for (std::int64_t i = 0; i < n; ++i) mean += value(x[i]) / static_cast<double>(n);
      for (std::int64_t i = 0; i < n; ++i)
        variance += (value(x[i]) - mean) * (value(x[i]) - mean) / static_cast<double>(n);
      const double inverse = 1 / std::sqrt(variance + epsilon_);
      store(arguments, 1, r, mean);
      store(arguments, 2, r, inverse);
      const auto& line = plan_.row();
      for_each_row(plan_, [&](std::int64_t at, const BroadcastPlan::Offsets& from) {
        for (std::int64_t i = 0; i < line.extent; ++i) {
          double v = (value(x[at + i]) - mean) * inverse * value(scale[from[0] + i * line.strides[0]]);
          if (bias != nullptr) v += value(bias[from[1] + i * line.strides[1]]);
          y[at + i] = convert_element<T>(v);
        }
      });
    }
  }

 private:
  static double value(T v) { return static_cast<double>(Compute<T>(v)); }
  static void store(const KernelArguments& arguments, std::size_t o, std::int64_t r, double v) {
    if (o < arguments.outputs.size() && arguments.outputs[o] != nullptr)
      static_cast<float*>(arguments.outputs[o])[r] = static_cast<float>(v);
  }
  std::int64_t rows_;
  Shape row_;
  double epsilon_;
  BroadcastPlan plan_;
};

std::unique_ptr<Kernel> prepare_vector(const NodeView& view, PrepareContext&) {
  return std::make_unique<VectorKernel>(view);
}
std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return dispatch(Floats{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<ReferenceKernel<typename decltype(tag)::type>>(view);
  });
}

/// Only permutations that leave the normalised axes where they are.
std::optional<std::vector<int>> permute(Graph&, Node& node, std::span<const int> perm) {
  const auto rank = static_cast<int>(perm.size());
  for (int a = normalise_axis(node.attributes.get_int("axis", -1), rank); a < rank; ++a)
    if (perm[static_cast<std::size_t>(a)] != a) return std::nullopt;
  return std::vector<int>(perm.begin(), perm.end());
}

constexpr Implementation kImplementations[] = {
    {"vector", refuses_vector, prepare_vector},
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); }, prepare_reference}};

}  // namespace

Layer layer_normalization_layer() {
  return {.op = "LayerNormalization",
          .summary = "normalises the last axes of each sample",
          .min_inputs = 2,
          .max_inputs = 3,
          .max_outputs = 3,
          .layout = LayoutRule::any,
          .infer = infer,
          .cost = [](const NodeView& view) { return norm_cost(view, 8); },
          .permute = permute,
          .implementations = kImplementations};
}

}  // namespace espalier
