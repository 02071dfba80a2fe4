#include "layers/pool/pool_reference.hpp"

#include <cmath>
#include <limits>

#include "layers/common/dtype_dispatch.hpp"
#include "layers/pool/pool_shape.hpp"

namespace espalier {
namespace {

using Served = decltype(join(Floats{}, Types<std::int8_t, std::uint8_t>{}));

/// Calls f(d, h, w) for the points of the window at output `o` that lie in the input, in row-major order.
template <class F>
void for_each_point(const Window& w, const Extents3& o, F&& f) {
  Extents3 first;
  for (int i = 0; i < 3; ++i) first[i] = o[i] * w.stride[i] - w.pad_begin[i];
  const auto inside = [&](int axis, std::int64_t at) { return at >= 0 && at < w.in[axis]; };
  for (std::int64_t i = 0; i < w.kernel[0]; ++i) {
    const std::int64_t d = first[0] + i * w.dilation[0];
    for (std::int64_t j = 0; inside(0, d) && j < w.kernel[1]; ++j) {
      const std::int64_t h = first[1] + j * w.dilation[1];
      for (std::int64_t k = 0; inside(1, h) && k < w.kernel[2]; ++k)
        if (const std::int64_t x = first[2] + k * w.dilation[2]; inside(2, x)) f(d, h, x);
    }
  }
}

template <class T>
T lowest_element() {
  if constexpr (std::is_integral_v<T>)
    return std::numeric_limits<T>::lowest();
  else
    return static_cast<T>(-std::numeric_limits<double>::infinity());
}

template <class T>
class ReferencePool final : public Kernel {
 public:
  explicit ReferencePool(PoolShape shape) : s_(std::move(shape)) {}

  void run(const KernelArguments& a) override {
    const Window& w = s_.window;
    const T* x = static_cast<const T*>(a.inputs[0]);
    std::int64_t* indices = a.outputs.size() > 1 ? static_cast<std::int64_t*>(a.outputs[1]) : nullptr;
    std::int64_t flat = 0;
    for (std::int64_t n = 0; n < s_.batch; ++n)
      for (std::int64_t p = 0; p < w.out_points(); ++p) {
        const Extents3 o{p / (w.out[1] * w.out[2]), p / w.out[2] % w.out[1], p % w.out[2]};
        for (std::int64_t c = 0; c < s_.channels; ++c, ++flat)
          static_cast<T*>(a.outputs[0])[flat] =
              point(x, n, o, c, indices == nullptr ? nullptr : indices + flat);
      }
  }

 private:
  T at(const T* x, std::int64_t n, std::int64_t d, std::int64_t h, std::int64_t w, std::int64_t c) const {
    const Extents3& in = s_.window.in;
    return x[(((n * in[0] + d) * in[1] + h) * in[2] + w) * s_.channels + c];
  }

  T point(const T* x, std::int64_t n, const Extents3& o, std::int64_t c, std::int64_t* index) const {
    if (s_.kind == PoolKind::max) return maximum(x, n, o, c, index);
    double sum = 0;
    if constexpr (!std::is_integral_v<T>) {
      for_each_point(s_.window, o, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
        const auto v = static_cast<double>(at(x, n, d, h, w, c));
        sum += s_.kind == PoolKind::average ? v : std::pow(std::abs(v), static_cast<double>(s_.p));
      });
    }
    if (s_.kind == PoolKind::average) return static_cast<T>(sum / static_cast<double>(s_.divisor(o)));
    return static_cast<T>(std::pow(sum, 1 / static_cast<double>(s_.p)));
  }

  T maximum(const T* x, std::int64_t n, const Extents3& o, std::int64_t c, std::int64_t* index) const {
    const Extents3& in = s_.window.in;
    T best = lowest_element<T>();
    std::int64_t where = -1;
    for_each_point(s_.window, o, [&](std::int64_t d, std::int64_t h, std::int64_t w) {
      const T v = at(x, n, d, h, w, c);
      if (where >= 0 && !(static_cast<Compute<T>>(v) > static_cast<Compute<T>>(best))) return;
      best = v;
      where = s_.column_major ? (w * in[1] + h) * in[0] + d : (d * in[1] + h) * in[2] + w;
    });
    if (index != nullptr) *index = where < 0 ? -1 : (n * s_.channels + c) * s_.window.in_points() + where;
    return best;
  }

  PoolShape s_;
};

}  // namespace

std::string pool_reference_refuses(const NodeView&, const KernelOptions&) {
  return {};
}

std::unique_ptr<Kernel> prepare_pool_reference(const NodeView& view, PrepareContext&) {
  return dispatch(Served{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    using T = typename decltype(tag)::type;
    return std::make_unique<ReferencePool<T>>(pool_shape(view));
  });
}

}  // namespace espalier
