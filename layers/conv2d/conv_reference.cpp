#include "layers/conv2d/conv_reference.hpp"

#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/post_ops.hpp"
#include "layers/conv2d/conv_shape.hpp"

namespace espalier {
namespace {

struct Point {
  std::int64_t d, h, w;
};

/// Flat index of a spatial point, or -1 outside.
std::int64_t flat_point(const Extents3& e, Point p) {
  if (p.d < 0 || p.h < 0 || p.w < 0 || p.d >= e[0] || p.h >= e[1] || p.w >= e[2]) return -1;
  return (p.d * e[1] + p.h) * e[2] + p.w;
}

Point unflatten(const Extents3& e, std::int64_t flat) {
  return {flat / (e[1] * e[2]), flat / e[2] % e[1], flat % e[2]};
}

/// Input coordinate that output coordinate `o` meets at kernel tap `k` of a convolution.
std::int64_t gather(const Window& w, int axis, std::int64_t o, std::int64_t k) {
  return o * w.stride[axis] + k * w.dilation[axis] - w.pad_begin[axis];
}

/// The same for a transposed convolution: i with i stride + k dilation - pad = o, or -1.
std::int64_t scatter(const Window& w, int axis, std::int64_t o, std::int64_t k) {
  const std::int64_t i = o + w.pad_begin[axis] - k * w.dilation[axis];
  return i >= 0 && i % w.stride[axis] == 0 ? i / w.stride[axis] : -1;
}

template <class T, bool transposed>
class ReferenceConv final : public Kernel {
 public:
  ReferenceConv(ConvShape shape, bool bias, ReferencePostOps post_ops)
      : shape_(std::move(shape)), bias_(bias), post_ops_(std::move(post_ops)) {}

  void run(const KernelArguments& a) override {
    const T* x = static_cast<const T*>(a.inputs[0]);
    const T* weight = static_cast<const T*>(a.inputs[1]);
    const T* bias = bias_ ? static_cast<const T*>(a.inputs[2]) : nullptr;
    T* y = static_cast<T*>(a.outputs[0]);
    const std::int64_t points = shape_.window.out_points();
    for (std::int64_t n = 0; n < shape_.batch; ++n)
      for (std::int64_t p = 0; p < points; ++p)
        for (std::int64_t m = 0; m < shape_.filters; ++m) {
          const std::int64_t flat = (n * points + p) * shape_.filters + m;
          double sum = bias != nullptr ? static_cast<double>(bias[m]) : 0.0;
          sum += taps(x + n * shape_.window.in_points() * shape_.channels, weight, p, m);
          y[flat] = static_cast<T>(post_ops_.apply(sum, flat, a));
        }
  }

 private:
  double taps(const T* x, const T* weight, std::int64_t p, std::int64_t m) const {
    const Window& w = shape_.window;
    const Point o = unflatten(w.out, p);
    const std::int64_t depth = shape_.channels_per_group(), per_group = shape_.filters_per_group();
    const std::int64_t group = m / per_group, taps = w.kernel_points();
    double sum = 0;
    for (std::int64_t k = 0; k < taps; ++k) {
      const Point t = unflatten(w.kernel, k);
      const auto map = transposed ? scatter : gather;
      const std::int64_t at =
          flat_point(w.in, {map(w, 0, o.d, t.d), map(w, 1, o.h, t.h), map(w, 2, o.w, t.w)});
      if (at < 0) continue;
      for (std::int64_t c = 0; c < depth; ++c) {
        const std::int64_t channel = group * depth + c;
        const std::int64_t row = transposed ? channel * per_group + m % per_group : m * depth + c;
        sum += static_cast<double>(x[at * shape_.channels + channel]) *
               static_cast<double>(weight[row * taps + k]);
      }
    }
    return sum;
  }

  ConvShape shape_;
  bool bias_;
  ReferencePostOps post_ops_;
};

template <bool transposed>
std::unique_ptr<Kernel> prepare(const NodeView& view) {
  return dispatch(Floats{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    using T = typename decltype(tag)::type;
    return std::make_unique<ReferenceConv<T, transposed>>(
        transposed ? conv_transpose_shape(view) : conv_shape(view), view.has_input(2),
        ReferencePostOps(view));
  });
}

}  // namespace

std::string conv_reference_refuses(const NodeView& view, const KernelOptions&) {
  return ReferencePostOps::refuses(view);
}

std::unique_ptr<Kernel> prepare_conv_reference(const NodeView& view, PrepareContext&) {
  return prepare<false>(view);
}

std::unique_ptr<Kernel> prepare_conv_transpose_reference(const NodeView& view, PrepareContext&) {
  return prepare<true>(view);
}

}  // namespace espalier
