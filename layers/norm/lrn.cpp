#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/simd.hpp"
#include "layers/norm/norm.hpp"

namespace espalier {
namespace {

struct Parameters {
  explicit Parameters(const NodeView& view)
      : size(view.attributes().get_int("size")),
        alpha(view.attributes().get_float("alpha", 1e-4)),
        beta(view.attributes().get_float("beta", 0.75)),
        bias(view.attributes().get_float("bias", 1)) {
    if (size < 1) throw InputError(fmt::format("size is {}; it must be positive", size));
    channels = view.shape(0)[-1];
    before = std::min((size - 1) / 2, channels);
    after = std::min(size - 1 - (size - 1) / 2, channels);
    pixels = channels == 0 ? 0 : view.shape(0).elements() / channels;
  }
  std::int64_t size;
  double alpha, beta, bias;
  std::int64_t channels, before, after, pixels;
};

std::vector<TensorType> infer(const NodeView& view) {
  require_dtype(view.inputs[0]->dtype, dtypes_of(Floats{}), "input");
  if (view.shape(0).rank() < 2)
    throw InputError(
        fmt::format("input has shape {}; at least two axes are needed", view.shape(0).to_string()));
  Parameters{view};
  return {*view.inputs[0]};
}

/// Squares of one pixel between margins of zeros, then sums over the window. y = x (bias + alpha / size
/// s)^-beta with the usual beta = 3/4 by square roots.
struct Pixels {
  static ESPALIER_INLINE void run(const float* x, float* y, float* square, const Parameters* p) {
    const std::int64_t channels = p->channels, window = p->before + p->after + 1;
    const auto alpha = static_cast<float>(p->alpha / static_cast<double>(p->size));
    const auto bias = static_cast<float>(p->bias), power = static_cast<float>(-p->beta);
    float* sum = square + channels + p->before + p->after;
    for (std::int64_t i = 0; i < p->pixels; ++i, x += channels, y += channels) {
      for (std::int64_t c = 0; c < channels; ++c) square[p->before + c] = x[c] * x[c];
      for (std::int64_t c = 0; c < channels; ++c) sum[c] = square[c];
      for (std::int64_t k = 1; k < window; ++k)
        for (std::int64_t c = 0; c < channels; ++c) sum[c] += square[c + k];
      if (p->beta == 0.75) {
        for (std::int64_t c = 0; c < channels; ++c) {
          const float root = std::sqrt(bias + alpha * sum[c]);
          y[c] = x[c] / (root * std::sqrt(root));
        }
      } else {
        for (std::int64_t c = 0; c < channels; ++c) y[c] = x[c] * std::pow(bias + alpha * sum[c], power);
      }
    }
  }
};

class VectorKernel final : public Kernel {
 public:
  explicit VectorKernel(const NodeView& view) : p_(view) {}
  bool in_place() const override { return true; }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(2 * p_.channels + p_.before + p_.after) * sizeof(float);
  }
  void run(const KernelArguments& arguments) override {
    auto* square = static_cast<float*>(arguments.scratch);
    std::fill(square, square + p_.channels + p_.before + p_.after, 0.0F);
    simd_call<Pixels>(static_cast<const float*>(arguments.inputs[0]),
                      static_cast<float*>(arguments.outputs[0]), square, static_cast<const Parameters*>(&p_));
  }

 private:
  Parameters p_;
};

template <class T>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const NodeView& view) : p_(view) {}
  void run(const KernelArguments& arguments) override {
    const auto* x = static_cast<const T*>(arguments.inputs[0]);
    auto* y = static_cast<T*>(arguments.outputs[0]);
    const auto value = [](T v) { return static_cast<double>(Compute<T>(v)); };
    for (std::int64_t i = 0; i < p_.pixels; ++i, x += p_.channels, y += p_.channels)
      for (std::int64_t c = 0; c < p_.channels; ++c) {
        double sum = 0;
        for (std::int64_t k = std::max<std::int64_t>(0, c - p_.before);
             k <= std::min(p_.channels - 1, c + p_.after); ++k)
          sum += value(x[k]) * value(x[k]);
        y[c] = convert_element<T>(value(x[c]) /
                                  std::pow(p_.bias + p_.alpha / static_cast<double>(p_.size) * sum, p_.beta));
      }
  }

 private:
  Parameters p_;
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

}  // namespace

Layer lrn_layer() {
  return {.op = "LRN",
          .summary = "local response normalisation across channels",
          .layout = LayoutRule::channels_last,
          .infer = infer,
          .cost =
              [](const NodeView& view) {
                return norm_cost(view, 6 + static_cast<double>(view.attributes().get_int("size")));
              },
          .implementations = kImplementations};
}

}  // namespace espalier
