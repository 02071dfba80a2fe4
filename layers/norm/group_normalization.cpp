#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/simd.hpp"
#include "layers/norm/norm.hpp"

// InstanceNormalization is GroupNormalization with one channel a group.
namespace espalier {
namespace {

std::int64_t groups_of(const NodeView& view) {
  return view.op() == "InstanceNormalization" ? view.shape(0)[-1] : view.attributes().get_int("num_groups");
}

std::vector<TensorType> infer(const NodeView& view) {
  require_dtype(view.inputs[0]->dtype, dtypes_of(Floats{}), "input");
  if (view.shape(0).rank() < 2)
    throw InputError(
        fmt::format("input has shape {}; at least two axes are needed", view.shape(0).to_string()));
  const std::int64_t channels = view.shape(0)[-1], groups = groups_of(view);
  if ((groups < 1 && channels != 0) || (groups > 0 && channels % groups != 0))
    throw InputError(fmt::format("num_groups {} does not divide the {} channels of shape {} (channels last)",
                                 groups, channels, view.shape(0).to_string()));
  const char* names[] = {"input", "scale", "bias"};
  for (std::size_t i = 1; i < 3; ++i) {
    const bool per_group = view.has_input(i) && view.shape(i) == Shape{groups};
    if (!per_group) require_vector(view, i, channels, names[i]);
    if (view.inputs[i]->dtype != view.inputs[0]->dtype)
      throw InputError(fmt::format("{} is {} but the input {}", names[i], view.inputs[i]->to_string(),
                                   view.inputs[0]->to_string()));
  }
  return {*view.inputs[0]};
}

struct Extents {
  explicit Extents(const NodeView& view) {
    const Shape& shape = view.shape(0);
    batch = shape[0];
    channels = shape[-1];
    pixels = shape.elements(1, shape.rank() - 1);
    groups = groups_of(view);
    scale_by_group = view.shape(1) == Shape{groups};
    bias_by_group = view.shape(2) == Shape{groups};
    epsilon = view.attributes().get_float("epsilon", 1e-5);
  }
  std::int64_t scale_at(std::int64_t c) const { return scale_by_group ? c / (channels / groups) : c; }
  std::int64_t bias_at(std::int64_t c) const { return bias_by_group ? c / (channels / groups) : c; }
  std::int64_t batch, channels, pixels, groups;
  bool scale_by_group, bias_by_group;
  double epsilon;
};

struct ChannelSums {
  static ESPALIER_INLINE void run(const float* x, std::int64_t pixels, std::int64_t channels, double* sum) {
    for (std::int64_t p = 0; p < pixels; ++p, x += channels) {
      ESPALIER_INDEPENDENT
      for (std::int64_t c = 0; c < channels; ++c) sum[c] += static_cast<double>(x[c]);
    }
  }
};
struct ChannelSquares {
  static ESPALIER_INLINE void run(const float* x, std::int64_t pixels, std::int64_t channels,
                                  const double* mean, double* sum) {
    for (std::int64_t p = 0; p < pixels; ++p, x += channels) {
      ESPALIER_INDEPENDENT
      for (std::int64_t c = 0; c < channels; ++c) {
        const double d = static_cast<double>(x[c]) - mean[c];
        sum[c] += d * d;
      }
    }
  }
};
struct Apply {
  static ESPALIER_INLINE void run(const float* x, float* y, std::int64_t pixels, std::int64_t channels,
                                  const double* a, const double* b) {
    for (std::int64_t p = 0; p < pixels; ++p, x += channels, y += channels) {
      ESPALIER_INDEPENDENT
      for (std::int64_t c = 0; c < channels; ++c) y[c] = static_cast<float>(x[c] * a[c] + b[c]);
    }
  }
};

class VectorKernel final : public Kernel {
 public:
  explicit VectorKernel(const NodeView& view) : e_(view) {}
  bool in_place() const override { return true; }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(2 * e_.channels) * sizeof(double);
  }
  void run(const KernelArguments& arguments) override {
    const auto* x = static_cast<const float*>(arguments.inputs[0]);
    const auto* scale = static_cast<const float*>(arguments.inputs[1]);
    const auto* bias = static_cast<const float*>(arguments.inputs[2]);
    auto* y = static_cast<float*>(arguments.outputs[0]);
    auto* mean = static_cast<double*>(arguments.scratch);
    double* square = mean + e_.channels;
    const std::int64_t image = e_.pixels * e_.channels;
    for (std::int64_t n = 0; n < e_.batch; ++n, x += image, y += image) {
      std::fill(mean, square + e_.channels, 0.0);
      simd_call<ChannelSums>(x, e_.pixels, e_.channels, mean);
      average(mean);
      simd_call<ChannelSquares>(x, e_.pixels, e_.channels, static_cast<const double*>(mean), square);
      average(square);
      for (std::int64_t c = 0; c < e_.channels; ++c) {
        const double a = scale[e_.scale_at(c)] / std::sqrt(square[c] + e_.epsilon);
        square[c] = bias[e_.bias_at(c)] - mean[c] * a;
        mean[c] = a;
      }
      simd_call<Apply>(x, y, e_.pixels, e_.channels, static_cast<const double*>(mean),
                       static_cast<const double*>(square));
    }
  }

 private:
  /// Sums by channel become the mean of the channel's group.
  void average(double* sums) const {
    const std::int64_t width = e_.channels / std::max<std::int64_t>(e_.groups, 1);
    for (std::int64_t g = 0; g < e_.groups; ++g) {
      double sum = 0;
      for (std::int64_t c = 0; c < width; ++c) sum += sums[g * width + c];
      std::fill(sums + g * width, sums + (g + 1) * width, sum / static_cast<double>(width * e_.pixels));
    }
  }
  Extents e_;
};

template <class T>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const NodeView& view) : e_(view) {}
  void run(const KernelArguments& arguments) override {
    const auto* scale = static_cast<const T*>(arguments.inputs[1]);
    const auto* bias = static_cast<const T*>(arguments.inputs[2]);
    const std::int64_t width = e_.channels / std::max<std::int64_t>(e_.groups, 1);
    const auto count = static_cast<double>(width * e_.pixels);
    for (std::int64_t n = 0; n < e_.batch; ++n)
      for (std::int64_t g = 0; g < e_.groups; ++g) {
        const std::int64_t first = n * e_.pixels * e_.channels + g * width;
        const auto* x = static_cast<const T*>(arguments.inputs[0]) + first;
        auto* y = static_cast<T*>(arguments.outputs[0]) + first;
        const auto each = [&](auto&& f) {
          for (std::int64_t p = 0; p < e_.pixels; ++p)
            for (std::int64_t c = 0; c < width; ++c) f(p * e_.channels + c, g * width + c);
        };
        double mean = 0, variance = 0;
        each([&](std::int64_t i, std::int64_t) { mean += static_cast<double>(Compute<T>(x[i])) / count; });
        each([&](std::int64_t i, std::int64_t) {
          variance += std::pow(static_cast<double>(Compute<T>(x[i])) - mean, 2) / count;
        });
        each([&](std::int64_t i, std::int64_t c) {
          const double a = static_cast<double>(Compute<T>(scale[e_.scale_at(c)]));
          const double b = static_cast<double>(Compute<T>(bias[e_.bias_at(c)]));
          const double v = static_cast<double>(Compute<T>(x[i]));
          y[i] = convert_element<T>((v - mean) / std::sqrt(variance + e_.epsilon) * a + b);
        });
      }
  }

 private:
  Extents e_;
};

std::unique_ptr<Kernel> prepare_vector(const NodeView& view, PrepareContext&) {
  return std::make_unique<VectorKernel>(view);
}
std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return dispatch(Floats{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<ReferenceKernel<typename decltype(tag)::type>>(view);
  });
}

constexpr Implementation kImplementations[] = {
    {"vector", [](const NodeView& view, const KernelOptions&) { return refuses_all_but_float32(view); },
     prepare_vector},
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); }, prepare_reference}};

Layer layer(std::string_view op, std::string_view summary) {
  return {.op = op,
          .summary = summary,
          .min_inputs = 3,
          .max_inputs = 3,
          .layout = LayoutRule::channels_last,
          .infer = infer,
          .cost = [](const NodeView& view) { return norm_cost(view, 6); },
          .implementations = kImplementations};
}

}  // namespace

Layer instance_normalization_layer() {
  return layer("InstanceNormalization", "normalises each channel of each sample");
}

Layer group_normalization_layer() {
  return layer("GroupNormalization", "normalises groups of channels of each sample");
}

}  // namespace espalier
