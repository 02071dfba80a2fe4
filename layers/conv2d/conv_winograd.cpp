#include "layers/conv2d/conv_winograd.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "layers/conv2d/conv_packing.hpp"

namespace espalier {
namespace {

constexpr int kPoints = 36;

/// G g G^T of one 3x3 kernel, for the points 0, 1, -1, 2, -2 and infinity.
void transform_kernel(const float* g, double (&u)[kPoints]) {
  constexpr double kG[6][3] = {{1.0 / 4, 0, 0},
                               {-1.0 / 6, -1.0 / 6, -1.0 / 6},
                               {-1.0 / 6, 1.0 / 6, -1.0 / 6},
                               {1.0 / 24, 1.0 / 12, 1.0 / 6},
                               {1.0 / 24, -1.0 / 12, 1.0 / 6},
                               {0, 0, 1}};
  double half[6][3];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 3; ++j) half[i][j] = kG[i][0] * g[j] + kG[i][1] * g[3 + j] + kG[i][2] * g[6 + j];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j)
      u[6 * i + j] = half[i][0] * kG[j][0] + half[i][1] * kG[j][1] + half[i][2] * kG[j][2];
}

/// All kernels transformed and packed, one B for each point.
void pack_kernels(const float* w, std::int64_t channels, std::int64_t filters, int width, float* out) {
  std::vector<float> u(static_cast<std::size_t>(kPoints * channels * filters));
  double one[kPoints];
  for (std::int64_t n = 0; n < filters; ++n)
    for (std::int64_t k = 0; k < channels; ++k) {
      transform_kernel(w + (n * channels + k) * 9, one);
      for (int p = 0; p < kPoints; ++p) u[(p * channels + k) * filters + n] = static_cast<float>(one[p]);
    }
  const std::int64_t size = simd::packed_b_floats(channels, filters, width);
  for (int p = 0; p < kPoints; ++p)
    simd::pack_b(channels, filters, width, out + p * size,
                 [&](std::int64_t k, std::int64_t n) { return u[(p * channels + k) * filters + n]; });
}

/// An odd number of cache lines, so that the 36 points do not meet in the same sets.
std::int64_t spread(std::int64_t floats) {
  const std::int64_t lines = (floats + 15) / 16;
  return (lines | 1) * 16;
}

/// Seconds for all images, Winograd's and the direct way's, from rates measured on one core with AVX-512:
/// multiplications at 180 and 150 GFLOP/s, and weights or transforms that leave the second-level cache at 7
/// to 22 GB/s.
double winograd_seconds(const ConvShape& s, std::int64_t tiles) {
  const double products = double(s.channels) * double(s.filters);
  const bool large = kPoints * products * 4 > 1e6;
  const double transforms = 2.0 * kPoints * double(tiles) * double(s.channels + s.filters) * 4;
  return 2.0 * kPoints * double(tiles) * products / 180e9 + (large ? kPoints * products * 4 / 7e9 : 0) +
         transforms / (large ? 10e9 : 22e9);
}

double direct_seconds(const ConvShape& s) {
  const double products = double(s.channels) * double(s.filters);
  return 18.0 * products * double(s.batch * s.window.out_points()) / 150e9 +
         (products > 25e4 ? 36 * products / 5e9 : 0);
}

class WinogradConv final : public Kernel {
 public:
  WinogradConv(const NodeView& view, PrepareContext& context) : shape_(conv_shape(view)) {
    const int width = simd::kernels()->width;
    const std::int64_t c = shape_.channels, m = shape_.filters;
    packed_ = simd::packed_b_floats(c, m, width);
    weight_ = cached_floats(
        context.weights, *view.constants[1], fmt::format("winograd{}", width), kPoints * packed_,
        [&](float* out) { pack_kernels(view.constants[1]->as<float>().data(), c, m, width, out); });
    bias_ = padded_bias(view, context.weights, m, width);
    epilogue_ = epilogue_of(view, bias_);
    rows_ = (shape_.window.out[1] + 3) / 4;
    columns_ = (shape_.window.out[2] + 3) / 4;
    block_ = std::min(tile_block(), shape_.batch * rows_ * columns_);
    v_point_ = spread(block_ * c);
    m_point_ = spread(block_ * m);
  }

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(kPoints * (v_point_ + m_point_)) * sizeof(float);
  }

  void run(const KernelArguments& a) override {
    float* v = static_cast<float*>(a.scratch);
    float* products = v + kPoints * v_point_;
    const std::int64_t tiles = shape_.batch * rows_ * columns_;
    for (std::int64_t first = 0; first < tiles; first += block_) {
      const std::int64_t count = std::min(block_, tiles - first);
      for (std::int64_t t = 0; t < count; ++t)
        simd::kernels()->winograd_input(input_tile(a, first + t), shape_.channels, v + t * shape_.channels,
                                        v_point_);
      multiply(v, count, products);
      for (std::int64_t t = 0; t < count; ++t)
        simd::kernels()->winograd_output(products + t * shape_.filters, m_point_, shape_.filters,
                                         result_tile(a, first + t), epilogue_);
    }
  }

 private:
  /// Tiles whose transforms fit the second-level cache; many when the weights do not, so that these pass
  /// seldom.
  std::int64_t tile_block() const {
    const std::int64_t fits = 300000 / (kPoints * (shape_.channels + shape_.filters));
    return std::max<std::int64_t>(fits / 14 * 14, packed_ * kPoints > 300000 ? 112 : 56);
  }

  void multiply(const float* v, std::int64_t count, float* products) const {
    simd::GemmCall g;
    g.m = count;
    g.n = g.ldc = shape_.filters;
    g.k = g.lda = shape_.channels;
    const simd::Epilogue none;
    for (int p = 0; p < kPoints; ++p) {
      g.a = v + p * v_point_;
      g.b = weight_.get() + p * packed_;
      g.next_b = p + 1 < kPoints ? g.b + packed_ : nullptr;
      g.c = products + p * m_point_;
      simd::kernels()->gemm(g, none);
    }
  }

  struct Place {
    std::int64_t n, row, column;
  };
  Place place(std::int64_t tile) const {
    return {tile / (rows_ * columns_), tile / columns_ % rows_ * 4, tile % columns_ * 4};
  }

  simd::WinogradTile input_tile(const KernelArguments& a, std::int64_t tile) const {
    const Window& w = shape_.window;
    const Place p = place(tile);
    const std::int64_t h = p.row - w.pad_begin[1], x = p.column - w.pad_begin[2];
    simd::WinogradTile t;
    t.column_step = shape_.channels;
    t.row_step = w.in[2] * shape_.channels;
    t.x = static_cast<const float*>(a.inputs[0]) + p.n * w.in_points() * shape_.channels + h * t.row_step +
          x * t.column_step;
    const auto clip = [](std::int64_t v) { return static_cast<int>(std::clamp<std::int64_t>(v, 0, 6)); };
    t.top = clip(-h);
    t.bottom = clip(w.in[1] - h);
    t.left = clip(-x);
    t.right = clip(w.in[2] - x);
    return t;
  }

  simd::WinogradResult result_tile(const KernelArguments& a, std::int64_t tile) const {
    const Window& w = shape_.window;
    const Place p = place(tile);
    simd::WinogradResult r;
    r.column_step = shape_.filters;
    r.row_step = w.out[2] * shape_.filters;
    const std::int64_t at = (p.n * w.out_points() + p.row * w.out[2] + p.column) * shape_.filters;
    r.y = static_cast<float*>(a.outputs[0]) + at;
    if (const float* residual = residual_of(a, epilogue_)) r.residual = residual + at;
    r.rows = static_cast<int>(std::min<std::int64_t>(4, w.out[1] - p.row));
    r.columns = static_cast<int>(std::min<std::int64_t>(4, w.out[2] - p.column));
    return r;
  }

  ConvShape shape_;
  std::int64_t packed_ = 0, rows_ = 0, columns_ = 0, block_ = 0, v_point_ = 0, m_point_ = 0;
  std::shared_ptr<const float> weight_, bias_;
  simd::Epilogue epilogue_;
};

}  // namespace

std::string conv_winograd_refuses(const NodeView& view, const KernelOptions& options) {
  if (!options.allow_winograd) return "Winograd is not allowed";
  if (options.allow_bf16) return "bfloat16 is allowed, which is faster";
  const ConvShape s = conv_shape(view);
  const Window& w = s.window;
  if (s.groups != 1) return "grouped";
  if (w.rank != 2 || w.kernel != Extents3{1, 3, 3}) return "only 3x3 is served";
  if (w.stride != Extents3{1, 1, 1} || w.dilation != Extents3{1, 1, 1}) return "strided or dilated";
  std::string reason = own_kernel_refusal(view, s);
  if (!reason.empty()) return reason;
  const int width = simd::kernels()->width;
  if (s.channels % width != 0 || s.filters % width != 0)
    return fmt::format("channels are not multiples of {}", width);
  const std::int64_t tiles = s.batch * ((w.out[1] + 3) / 4) * ((w.out[2] + 3) / 4);
  if (options.forced != "winograd" && winograd_seconds(s, tiles) > direct_seconds(s))
    return "too few points for the weights and transforms that must be read";
  return {};
}

std::unique_ptr<Kernel> prepare_conv_winograd(const NodeView& view, PrepareContext& context) {
  return std::make_unique<WinogradConv>(view, context);
}

}  // namespace espalier
