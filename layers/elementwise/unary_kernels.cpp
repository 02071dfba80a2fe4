#include "layers/common/onednn_eltwise.hpp"
#include "layers/elementwise/unary_family.hpp"

namespace espalier {
namespace {

class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(const NodeView& view, UnaryRow row, ActivationParameters parameters)
      : row_(row),
        parameters_(parameters),
        elements_(view.outputs[0]->shape.elements()),
        in_place_(view.inputs[0]->dtype == view.outputs[0]->dtype) {}
  void run(const KernelArguments& arguments) override {
    row_(arguments.inputs[0], arguments.outputs[0], elements_, parameters_);
  }
  bool in_place() const override { return in_place_; }

 private:
  UnaryRow row_;
  ActivationParameters parameters_;
  std::int64_t elements_;
  bool in_place_;
};

class OneDnnKernel final : public Kernel {
 public:
  OneDnnKernel(const OneDnnEltwise& eltwise, std::int64_t elements) : primitive_(eltwise, elements) {}
  void run(const KernelArguments& arguments) override {
    primitive_.run(static_cast<const float*>(arguments.inputs[0]), static_cast<float*>(arguments.outputs[0]));
  }
  bool in_place() const override { return true; }

 private:
  EltwisePrimitive primitive_;
};

}  // namespace

std::unique_ptr<Kernel> make_unary_kernel(const NodeView& view, UnaryRow row,
                                          ActivationParameters parameters) {
  return std::make_unique<UnaryKernel>(view, row, parameters);
}

std::string onednn_unary_refuses(const NodeView& view, ActivationParameters parameters) {
  if (view.inputs[0]->dtype != DType::f32)
    return fmt::format("{}: only float32 is served", name_of(view.inputs[0]->dtype));
  if (!onednn_eltwise(view.op(), parameters)) return fmt::format("oneDNN has no {}", view.op());
  if (view.outputs[0]->shape.elements() == 0) return "no elements";
  return {};
}

std::unique_ptr<Kernel> make_onednn_unary_kernel(const NodeView& view, ActivationParameters parameters) {
  return std::make_unique<OneDnnKernel>(*onednn_eltwise(view.op(), parameters),
                                        view.outputs[0]->shape.elements());
}

}  // namespace espalier
