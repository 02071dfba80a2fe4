#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "graphs/base/error.hpp"
#include "layers/common/dtype_dispatch.hpp"
#include "layers/common/post_op_chain.hpp"
#include "layers/common/simd.hpp"
#include "layers/norm/norm.hpp"

namespace espalier {
namespace {

bool training(const NodeView& view) {
  return view.attributes().get_int("training_mode", 0) != 0;
}

std::int64_t channels_of(const NodeView& view) {
  return view.shape(0).rank() < 2 ? 1 : view.shape(0)[-1];
}

std::vector<TensorType> infer(const NodeView& view) {
  require_dtype(view.inputs[0]->dtype, dtypes_of(Floats{}), "input");
  const char* names[] = {"input", "scale", "B", "mean", "var"};
  for (std::size_t i = 1; i < 5; ++i) require_vector(view, i, channels_of(view), names[i]);
  std::vector<TensorType> out{*view.inputs[0]};
  if (view.node.outputs.size() > 1 && !training(view))
    throw InputError("running_mean and running_var are outputs only with training_mode 1");
  for (std::size_t i = 1; i < view.node.outputs.size(); ++i) out.push_back(*view.inputs[i == 1 ? 3 : 4]);
  return out;
}

/// y = x a_c + b_c, clamped to [low, high] (a fused Relu or Clip).
struct Affine {
  static ESPALIER_INLINE void run(const float* x, float* y, std::int64_t pixels, std::int64_t channels,
                                  const float* a, const float* b, float low, float high) {
    for (std::int64_t p = 0; p < pixels; ++p, x += channels, y += channels) {
      ESPALIER_INDEPENDENT
      for (std::int64_t c = 0; c < channels; ++c) {
        const float v = x[c] * a[c] + b[c];
        const float above = v < low ? low : v;
        y[c] = above > high ? high : above;
      }
    }
  }
};

class AffineKernel final : public Kernel {
 public:
  explicit AffineKernel(const NodeView& view)
      : channels_(channels_of(view)),
        pixels_(channels_ == 0 ? 0 : view.shape(0).elements() / channels_),
        epsilon_(view.attributes().get_float("epsilon", 1e-5)) {
    for (const PostOp& op : view.node.post_ops) {
      low_ = op.op == "Relu" ? 0 : op.alpha;
      high_ = op.op == "Relu" ? std::numeric_limits<float>::infinity() : op.beta;
    }
  }
  bool in_place() const override { return true; }
  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(2 * channels_) * sizeof(float);
  }
  void run(const KernelArguments& arguments) override {
    const auto in = [&](std::size_t i) { return static_cast<const float*>(arguments.inputs[i]); };
    auto* a = static_cast<float*>(arguments.scratch);
    float* b = a + channels_;
    for (std::int64_t c = 0; c < channels_; ++c) {
      const double slope = in(1)[c] / std::sqrt(static_cast<double>(in(4)[c]) + epsilon_);
      a[c] = static_cast<float>(slope);
      b[c] = static_cast<float>(in(2)[c] - in(3)[c] * slope);
    }
    simd_call<Affine>(in(0), static_cast<float*>(arguments.outputs[0]), pixels_, channels_,
                      static_cast<const float*>(a), static_cast<const float*>(b), low_, high_);
  }

 private:
  std::int64_t channels_, pixels_;
  double epsilon_;
  float low_ = -std::numeric_limits<float>::infinity();
  float high_ = std::numeric_limits<float>::infinity();
};

bool can_fuse(const NodeView& view, const PostOp& op) {
  return view.inputs[0]->dtype == DType::f32 && !training(view) && view.node.post_ops.empty() &&
         (op.op == "Relu" || op.op == "Clip");
}

std::string refuses_affine(const NodeView& view, const KernelOptions&) {
  if (training(view)) return "training mode";
  if (view.node.post_ops.size() > 1) return "more than one fused operation";
  for (const PostOp& op : view.node.post_ops)
    if (op.op != "Relu" && op.op != "Clip") return "fused " + op.op;
  return refuses_all_but_float32(view);
}

std::unique_ptr<Kernel> prepare_affine(const NodeView& view, PrepareContext&) {
  return std::make_unique<AffineKernel>(view);
}

/// Literal, in double; also with the batch's own statistics.
template <class T>
class ReferenceKernel final : public Kernel {
 public:
  explicit ReferenceKernel(const NodeView& view)
      : channels_(channels_of(view)),
        pixels_(channels_ == 0 ? 0 : view.shape(0).elements() / channels_),
        epsilon_(view.attributes().get_float("epsilon", 1e-5)),
        momentum_(view.attributes().get_float("momentum", 0.9)),
        training_(training(view)) {
    if (std::is_same_v<T, float>) chain_ = PostOpChain(view);
    for (std::size_t i = 1; i < 5; ++i) types_[i] = view.inputs[i]->dtype;
  }
  void run(const KernelArguments& arguments) override {
    const auto* x = static_cast<const T*>(arguments.inputs[0]);
    auto* y = static_cast<T*>(arguments.outputs[0]);
    for (std::int64_t c = 0; c < channels_; ++c) {
      double mean = read(arguments, 3, c), variance = read(arguments, 4, c);
      if (training_) {
        const double old_mean = mean, old_variance = variance;
        mean = variance = 0;
        for (std::int64_t p = 0; p < pixels_; ++p) mean += at(x, p, c) / static_cast<double>(pixels_);
        for (std::int64_t p = 0; p < pixels_; ++p)
          variance += std::pow(at(x, p, c) - mean, 2) / static_cast<double>(pixels_);
        write(arguments, 1, c, old_mean * momentum_ + mean * (1 - momentum_));
        write(arguments, 2, c, old_variance * momentum_ + variance * (1 - momentum_));
      }
      const double slope = read(arguments, 1, c) / std::sqrt(variance + epsilon_);
      for (std::int64_t p = 0; p < pixels_; ++p)
        y[p * channels_ + c] = convert_element<T>((at(x, p, c) - mean) * slope + read(arguments, 2, c));
    }
    if constexpr (std::is_same_v<T, float>) chain_.apply(y, arguments.inputs);
  }

 private:
  double at(const T* x, std::int64_t p, std::int64_t c) const {
    return static_cast<double>(Compute<T>(x[p * channels_ + c]));
  }
  double read(const KernelArguments& arguments, std::size_t i, std::int64_t c) const {
    return dispatch(Floats{}, types_[i], [&](auto tag) {
      using U = typename decltype(tag)::type;
      return static_cast<double>(Compute<U>(static_cast<const U*>(arguments.inputs[i])[c]));
    });
  }
  void write(const KernelArguments& arguments, std::size_t o, std::int64_t c, double v) const {
    if (o >= arguments.outputs.size() || arguments.outputs[o] == nullptr) return;
    dispatch(Floats{}, types_[o + 2], [&](auto tag) {
      using U = typename decltype(tag)::type;
      static_cast<U*>(arguments.outputs[o])[c] = convert_element<U>(v);
    });
  }

  std::int64_t channels_, pixels_;
  double epsilon_, momentum_;
  bool training_;
  PostOpChain chain_;
  DType types_[5] = {};
};

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext&) {
  return dispatch(Floats{}, view.inputs[0]->dtype, [&](auto tag) -> std::unique_ptr<Kernel> {
    return std::make_unique<ReferenceKernel<typename decltype(tag)::type>>(view);
  });
}

constexpr Implementation kImplementations[] = {
    {"affine", refuses_affine, prepare_affine},
    {"reference", [](const NodeView&, const KernelOptions&) { return std::string(); }, prepare_reference}};

}  // namespace

Layer batch_normalization_layer() {
  return {.op = "BatchNormalization",
          .summary = "scales and shifts each channel by given statistics",
          .min_inputs = 5,
          .max_inputs = 5,
          .max_outputs = 3,
          .layout = LayoutRule::channels_last,
          .infer = infer,
          .cost = [](const NodeView& view) { return norm_cost(view, 2); },
          .can_fuse = can_fuse,
          .implementations = kImplementations};
}

}  // namespace espalier
