#include <cstdint>
#include <memory>
#include <string_view>

#include "graphs/base/error.hpp"
#include "runtime/perfmodel/fitted/fitted_costs.hpp"

// A model that is read must also answer: a convolution and a product on each of its devices.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace espalier;
  try {
    const auto model = std::make_shared<const fitted::FittedModel>(
        fitted::model_from_json({reinterpret_cast<const char*>(data), size}, "fuzz.json"));
    const fitted::FittedCosts costs(model);
    const CostClassInfo conv{
        "conv2d_forward",
        "Conv [strides=2,2] (float32 [8, 56, 56, 64], float32 [128, 64, 3, 3]) -> (float32 "
        "[8, 28, 28, 128])",
        Flops(1e9), Bytes(1 << 20), 0};
    const CostClassInfo dense{
        "gemm_backward_weight",
        "Gemm [transB=1] (float32 [32, 2048], float32 [1000, 2048]) -> (float32 [32, 1000])", Flops(1e8),
        Bytes(1 << 20), 0};
    for (const std::string& device : costs.devices()) {
      DeviceKind kind;
      kind.name = "fuzzed";
      kind.costs = device;
      static_cast<void>(costs.estimate(conv, kind));
      static_cast<void>(costs.estimate(dense, kind));
    }
  } catch (const InputError&) {
  }
  return 0;
}
