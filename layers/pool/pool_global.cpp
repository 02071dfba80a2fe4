#include "layers/pool/pool_global.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "layers/common/simd.hpp"
#include "layers/pool/pool_shape.hpp"

namespace espalier {
namespace {

/// y[c] = scale * sum over the points of x[point, c]
struct MeanOfPoints {
  static ESPALIER_INLINE void run(const float* x, std::int64_t points, std::int64_t channels, float scale,
                                  float* y) {
    for (std::int64_t c = 0; c < channels; ++c) y[c] = 0;
    std::int64_t p = 0;
    for (; p + 8 <= points; p += 8, x += 8 * channels) {
      ESPALIER_INDEPENDENT
      for (std::int64_t c = 0; c < channels; ++c) {
        const float* at = x + c;
        const float low = (at[0] + at[channels]) + (at[2 * channels] + at[3 * channels]);
        const float high = (at[4 * channels] + at[5 * channels]) + (at[6 * channels] + at[7 * channels]);
        y[c] += low + high;
      }
    }
    for (; p < points; ++p, x += channels) {
      ESPALIER_INDEPENDENT
      for (std::int64_t c = 0; c < channels; ++c) y[c] += x[c];
    }
    ESPALIER_INDEPENDENT
    for (std::int64_t c = 0; c < channels; ++c) y[c] *= scale;
  }
};

class GlobalMean final : public Kernel {
 public:
  explicit GlobalMean(const PoolShape& s)
      : batch_(s.batch), points_(s.window.in_points()), channels_(s.channels) {}
  void run(const KernelArguments& a) override {
    const float* x = static_cast<const float*>(a.inputs[0]);
    float* y = static_cast<float*>(a.outputs[0]);
    for (std::int64_t n = 0; n < batch_; ++n)
      simd_call<MeanOfPoints>(x + n * points_ * channels_, points_, channels_,
                              1.0F / static_cast<float>(points_), y + n * channels_);
  }

 private:
  std::int64_t batch_, points_, channels_;
};

}  // namespace

std::string pool_global_refuses(const NodeView& view, const KernelOptions&) {
  if (view.op() != "GlobalAveragePool") return "only GlobalAveragePool is served";
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  return {};
}

std::unique_ptr<Kernel> prepare_pool_global(const NodeView& view, PrepareContext&) {
  return std::make_unique<GlobalMean>(pool_shape(view));
}

}  // namespace espalier
