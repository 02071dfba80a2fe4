#include "layers/common/onednn_eltwise.hpp"

#include <dnnl.hpp>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {

std::optional<OneDnnEltwise> onednn_eltwise(std::string_view op, ActivationParameters p) {
  const auto with = [](dnnl_alg_kind_t algorithm, double alpha = 0, double beta = 0) {
    return OneDnnEltwise{static_cast<int>(algorithm), static_cast<float>(alpha), static_cast<float>(beta)};
  };
  if (op == "Tanh") return with(dnnl_eltwise_tanh);
  if (op == "Sigmoid") return with(dnnl_eltwise_logistic);
  if (op == "Silu") return with(dnnl_eltwise_swish, 1);
  if (op == "Elu") return with(dnnl_eltwise_elu, p.alpha);
  if (op == "Celu" && p.alpha == 1) return with(dnnl_eltwise_elu, 1);
  if (op == "Gelu") return with(p.alpha == 1 ? dnnl_eltwise_gelu_tanh : dnnl_eltwise_gelu_erf);
  return std::nullopt;
}

struct EltwisePrimitive::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::eltwise_forward primitive;
  dnnl::memory x;
  dnnl::memory y;
};

EltwisePrimitive::EltwisePrimitive(const OneDnnEltwise& eltwise, std::int64_t elements)
    : state_(std::make_unique<State>()) {
  try {
    const dnnl::memory::desc flat({elements}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a);
    const dnnl::eltwise_forward::desc desc(dnnl::prop_kind::forward_inference,
                                           static_cast<dnnl::algorithm>(eltwise.algorithm), flat,
                                           eltwise.alpha, eltwise.beta);
    state_->primitive = dnnl::eltwise_forward({desc, state_->engine});
    state_->x = dnnl::memory(flat, state_->engine, nullptr);
    state_->y = dnnl::memory(flat, state_->engine, nullptr);
  } catch (const dnnl::error& e) {
    throw DeviceError(fmt::format("oneDNN eltwise of {} elements: {}", elements, e.what()));
  }
}

EltwisePrimitive::~EltwisePrimitive() = default;

void EltwisePrimitive::run(const float* x, float* y) {
  // the C interface: the C++ one builds a map and a vector for each call
  dnnl_memory_set_data_handle(state_->x.get(), const_cast<float*>(x));
  dnnl_memory_set_data_handle(state_->y.get(), y);
  const dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, state_->x.get()}, {DNNL_ARG_DST, state_->y.get()}};
  const dnnl_status_t status =
      dnnl_primitive_execute(state_->primitive.get(), state_->stream.get(), 2, arguments);
  if (status != dnnl_success || dnnl_stream_wait(state_->stream.get()) != dnnl_success)
    throw DeviceError("oneDNN eltwise failed");
}

}  // namespace espalier
