#include "layers/dense/dense_reference.hpp"

#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/post_ops.hpp"
#include "layers/dense/dense_shape.hpp"

namespace espalier {
namespace {

using Served = decltype(join(Floats{}, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>{}));

/// What sums are kept in: double, or the unsigned type of an integer so that overflow wraps.
template <class T>
struct Accumulator {
  using type = double;
};
template <class T>
requires std::is_integral_v<T>
struct Accumulator<T> {
  using type = std::make_unsigned_t<T>;
};

template <class T>
class ReferenceDense final : public Kernel {
 public:
  using Sum = typename Accumulator<T>::type;
  ReferenceDense(DenseShape shape, ReferencePostOps post_ops)
      : d_(std::move(shape)), post_ops_(std::move(post_ops)) {}

  void run(const KernelArguments& arguments) override {
    const std::int64_t batches = d_.batches();
    for (std::int64_t b = 0; b < batches; ++b) {
      const T* a = static_cast<const T*>(arguments.inputs[0]) + offset(b, d_.a_batch);
      const T* w = static_cast<const T*>(arguments.inputs[1]) + offset(b, d_.b_batch);
      for (std::int64_t m = 0; m < d_.m; ++m)
        for (std::int64_t n = 0; n < d_.n; ++n) {
          const std::int64_t flat = (b * d_.m + m) * d_.n + n;
          finish(arguments, flat, m, n, dot(a + m * d_.a_m, w + n * d_.b_n));
        }
    }
  }

 private:
  std::int64_t offset(std::int64_t flat, const std::vector<std::int64_t>& strides) const {
    std::int64_t at = 0;
    for (std::size_t i = d_.batch.size(); i-- > 0; flat /= d_.batch[i]) at += flat % d_.batch[i] * strides[i];
    return at;
  }

  Sum dot(const T* a, const T* b) const {
    Sum sum = 0;
    for (std::int64_t k = 0; k < d_.k; ++k)
      sum += static_cast<Sum>(a[k * d_.a_k]) * static_cast<Sum>(b[k * d_.b_k]);
    return sum;
  }

  void finish(const KernelArguments& arguments, std::int64_t flat, std::int64_t m, std::int64_t n,
              Sum sum) const {
    T* y = static_cast<T*>(arguments.outputs[0]);
    const T* c = d_.has_c ? static_cast<const T*>(arguments.inputs[2]) + m * d_.c_m + n * d_.c_n : nullptr;
    if constexpr (std::is_integral_v<T>) {
      if (d_.alpha != 1)
        sum = static_cast<Sum>(static_cast<T>(d_.alpha * static_cast<double>(static_cast<T>(sum))));
      if (c != nullptr)
        sum += d_.beta == 1 ? static_cast<Sum>(*c)
                            : static_cast<Sum>(static_cast<T>(d_.beta * static_cast<double>(*c)));
      y[flat] = static_cast<T>(sum);
    } else {
      sum *= d_.alpha;
      if (c != nullptr) sum += d_.beta * static_cast<double>(*c);
      y[flat] = static_cast<T>(post_ops_.apply(sum, flat, arguments));
    }
  }

  DenseShape d_;
  ReferencePostOps post_ops_;
};

}  // namespace

std::string dense_reference_refuses(const NodeView& view, const KernelOptions&) {
  if (!is_float(view.inputs[0]->dtype) && !view.node.post_ops.empty())
    return "fused operations need a float type";
  return ReferencePostOps::refuses(view);
}

std::unique_ptr<Kernel> prepare_dense_reference(const NodeView& view, PrepareContext&) {
  return dispatch(Served{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    using T = typename decltype(tag)::type;
    return std::make_unique<ReferenceDense<T>>(dense_shape(view), ReferencePostOps(view));
  });
}

}  // namespace espalier
