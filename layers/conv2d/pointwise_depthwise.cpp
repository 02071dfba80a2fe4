#include "layers/conv2d/pointwise_depthwise.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "layers/common/post_ops.hpp"
#include "layers/conv2d/conv_layers.hpp"
#include "layers/conv2d/conv_packing.hpp"

namespace espalier {
namespace {

/// The two convolutions as nodes of their own, with the types that their views point to.
struct Parts {
  Node first, second;
  TensorType middle, output;
  NodeView first_view, second_view;
  ConvShape first_shape, second_shape;

  explicit Parts(const NodeView& view);
  Parts(const Parts&) = delete;
};

NodeView part_view(const NodeView& view, const Node& node, const TensorType* x, std::size_t weight) {
  NodeView part{node, {x}, {}, {nullptr}};
  for (std::size_t i = weight; i < weight + 2; ++i) {
    part.inputs.push_back(view.has_input(i) ? view.inputs[i] : nullptr);
    part.constants.push_back(i < view.constants.size() ? view.constants[i] : nullptr);
  }
  return part;
}

Parts::Parts(const NodeView& view) : first_view{first, {}, {}, {}}, second_view{second, {}, {}, {}} {
  if (!view.has_input(0) || !view.has_input(1) || !view.has_input(3))
    throw InputError("needs an input and the weights of both convolutions");
  const Attributes& a = view.attributes();
  first.name = view.node.name;
  first.op = second.op = "Conv";
  const auto number = [&](const char* name) { return static_cast<float>(a.get_float(name, 0)); };
  if (const std::string op = a.get_string("activation", ""); !op.empty())
    first.post_ops.push_back({op, number("activation_alpha"), number("activation_beta"), -1});
  second.name = view.node.name;
  second.attributes = a;
  second.post_ops = view.node.post_ops;
  const NodeView one = part_view(view, first, view.inputs[0], 1);
  first_shape = conv_shape(one);
  if (first_shape.window.kernel_points() != 1) throw InputError("the first weight must be 1x1");
  middle = {view.inputs[0]->dtype, window_output(first_shape.window, first_shape.batch, first_shape.filters)};
  const NodeView two = part_view(view, second, &middle, 3);
  second_shape = conv_shape(two);
  output = {middle.dtype, window_output(second_shape.window, second_shape.batch, second_shape.filters)};
  first_view.inputs = one.inputs;
  first_view.constants = one.constants;
  first_view.outputs = {&middle};
  second_view.inputs = two.inputs;
  second_view.constants = two.constants;
  second_view.outputs = {&output};
}

/// Both convolutions one after the other through a tensor in the scratch.
class ChainKernel final : public Kernel {
 public:
  ChainKernel(std::unique_ptr<Kernel> first, std::unique_ptr<Kernel> second, std::int64_t middle_bytes)
      : first_(std::move(first)),
        second_(std::move(second)),
        middle_((static_cast<std::size_t>(middle_bytes) + 63) / 64 * 64) {}
  std::size_t scratch_bytes() const override {
    return middle_ + std::max(first_->scratch_bytes(), second_->scratch_bytes());
  }
  void run(const KernelArguments& a) override {
    char* middle = static_cast<char*>(a.scratch);
    void* scratch = middle + middle_;
    const auto at = [&](std::size_t i) { return i < a.inputs.size() ? a.inputs[i] : nullptr; };
    const void* in1[] = {at(0), at(1), at(2)};
    void* out1[] = {middle};
    first_->run({in1, out1, scratch});
    const void* in2[] = {middle, at(3), at(4)};
    second_->run({in2, a.outputs, scratch});
  }

 private:
  std::unique_ptr<Kernel> first_, second_;
  std::size_t middle_;
};

/// Row by row: a ring holds the rows of the wide tensor that the depthwise window covers.
class RowsKernel final : public Kernel {
 public:
  RowsKernel(const Parts& parts, PrepareContext& context)
      : first_(parts.first_shape), second_(parts.second_shape) {
    const int width = simd::kernels()->width;
    w1_ = pointwise_weight(parts.first_view, context.weights, first_);
    w2_ = depthwise_weight(parts.second_view, context.weights, second_);
    b1_ = padded_bias(parts.first_view, context.weights, first_.filters, width);
    b2_ = padded_bias(parts.second_view, context.weights, second_.filters, width);
    e1_ = epilogue_of(parts.first_view, b1_);
    e2_ = epilogue_of(parts.second_view, b2_);
    rows_.resize(static_cast<std::size_t>(second_.window.kernel[1]));
    step_ = (second_.channels + width - 1) / width * width;
  }

  std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(ring() * row_floats()) * sizeof(float);
  }

  void run(const KernelArguments& a) override {
    const Window& w = second_.window;
    simd::DepthwiseRow d = depthwise_row(w, second_.channels, w2_.get(), step_);
    d.rows = rows_.data();
    float* const lines = static_cast<float*>(a.scratch);
    for (std::int64_t n = 0; n < second_.batch; ++n) {
      const float* x = static_cast<const float*>(a.inputs[0]) + n * w.in_points() * first_.channels;
      std::int64_t made = 0;  // rows of the wide tensor before this one are in the ring or no longer needed
      for (std::int64_t o = 0; o < w.out[1]; ++o) {
        const std::int64_t top = o * w.stride[1] - w.pad_begin[1];
        const std::int64_t bottom = std::min(top + w.reach(1), w.in[1]);
        for (made = std::max({made, top, std::int64_t{0}}); made < bottom; ++made)
          expand(x + made * w.in[2] * first_.channels, lines + made % ring() * row_floats());
        for (std::int64_t k = 0; k < w.kernel[1]; ++k) {
          const std::int64_t h = top + k * w.dilation[1];
          rows_[k] = h >= 0 && h < w.in[1] ? lines + h % ring() * row_floats() : nullptr;
        }
        d.y = static_cast<float*>(a.outputs[0]) + (n * w.out[1] + o) * w.out[2] * second_.channels;
        simd::kernels()->depthwise_row(d, e2_);
      }
    }
  }

 private:
  std::int64_t ring() const { return second_.window.reach(1); }
  std::int64_t row_floats() const { return second_.window.in[2] * second_.channels; }
  void expand(const float* x, float* y) const {
    simd::GemmCall g;
    g.m = second_.window.in[2];
    g.n = g.ldc = first_.filters;
    g.k = g.lda = first_.channels;
    g.a = x;
    g.b = w1_.get();
    g.c = y;
    simd::kernels()->gemm(g, e1_);
  }

  ConvShape first_, second_;
  std::shared_ptr<const float> w1_, w2_, b1_, b2_;
  simd::Epilogue e1_, e2_;
  std::vector<const float*> rows_;
  std::int64_t step_ = 0;
};

std::string rows_refuse(const NodeView& view, const KernelOptions& options) {
  if (options.allow_bf16) return "bfloat16 is allowed: the parts alone are faster";
  const Parts parts(view);
  const std::string reason = own_kernel_refusal(parts.first_view, parts.first_shape);
  if (!reason.empty()) return reason;
  if (!pointwise_window(parts.first_shape.window) || parts.first_shape.groups != 1)
    return "the first is strided or grouped";
  if (!parts.second_shape.depthwise() || parts.second_shape.window.rank != 2)
    return "the second is not depthwise in 2-D";
  return own_kernel_refusal(parts.second_view, parts.second_shape);
}

std::unique_ptr<Kernel> prepare_rows(const NodeView& view, PrepareContext& context) {
  return std::make_unique<RowsKernel>(Parts(view), context);
}

std::unique_ptr<Kernel> best_conv(const NodeView& view, PrepareContext& context) {
  const Layer& conv = conv_layers()[0];
  const Selection s = select_implementation(conv, view, context.options);
  if (s.chosen == nullptr)
    throw InputError("no implementation of Conv applies to a part of PointwiseDepthwise");
  return s.chosen->prepare(view, context);
}

std::string chain_refuses(const NodeView& view, const KernelOptions&) {
  const Parts parts(view);
  for (const PostOp& p : view.node.post_ops)
    if (!is_activation(p)) return fmt::format("fused {}", p.op);
  if (!parts.first.post_ops.empty() && !is_activation(parts.first.post_ops[0]))
    return fmt::format("activation {} is not served", parts.first.post_ops[0].op);
  return {};
}

std::unique_ptr<Kernel> prepare_chain(const NodeView& view, PrepareContext& context) {
  const Parts parts(view);
  return std::make_unique<ChainKernel>(best_conv(parts.first_view, context),
                                       best_conv(parts.second_view, context), parts.middle.bytes());
}

std::unique_ptr<Kernel> prepare_reference(const NodeView& view, PrepareContext& context) {
  PrepareContext plain{context.weights, context.options};
  plain.options.reference_only = true;
  return prepare_chain(view, plain);
}

std::vector<TensorType> infer(const NodeView& view) {
  return {Parts(view).output};
}

/// The flops of both; the bytes without the tensor in between.
LayerCost cost(const NodeView& view) {
  const Parts parts(view);
  LayerCost c = conv_cost(view, parts.first_shape, parts.first_shape.window.out_points());
  c.flops += conv_cost(view, parts.second_shape, parts.second_shape.window.out_points()).flops;
  return c;
}

constexpr Implementation kImplementations[] = {
    {"rows", rows_refuse, prepare_rows},
    {"chain", chain_refuses, prepare_chain},
    {"reference", chain_refuses, prepare_reference},
};

}  // namespace

Layer pointwise_depthwise_layer() {
  return {.op = "PointwiseDepthwise",
          .summary = "1x1 convolution, activation and depthwise convolution in one (made by fusion)",
          .min_inputs = 4,
          .max_inputs = 5,
          .max_outputs = 1,
          .infer = infer,
          .cost = cost,
          .can_fuse = [](const NodeView&, const PostOp& op) { return is_activation(op); },
          .implementations = kImplementations};
}

}  // namespace espalier
