#include "layers/simd/kernels.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <string_view>

namespace espalier::simd {
namespace {

const Kernels* detect() {
#if defined(__x86_64__)
  const char* wish = std::getenv("ESPALIER_ISA");
  const std::string_view most = wish == nullptr ? "avx512" : wish;
  const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  if (most == "avx512" && wide) return &kAvx512;
  if (most != "none" && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &kAvx2;
#endif
  return nullptr;
}

bool set_activation(const PostOp& p, Epilogue& e) {
  if (p.op == "Relu") {
    e.low = 0;
  } else if (p.op == "Clip") {
    e.low = p.alpha;
    e.high = p.beta;
  } else if (p.op == "Silu") {
    e.activation = Activation::silu;
  } else if (p.op == "Sigmoid") {
    e.activation = Activation::sigmoid;
  } else if (p.op == "HardSwish") {
    e.activation = Activation::hard_swish;
  } else {
    return false;
  }
  return true;
}

}  // namespace

const Kernels* kernels() {
  static const Kernels* const best = detect();
  return best;
}

std::int64_t packed_b_floats(std::int64_t k, std::int64_t n, int width) {
  return (n + width - 1) / width * width * k;
}

std::string read_epilogue(const NodeView& view, Epilogue& e) {
  bool activated = false;
  for (const PostOp& p : view.node.post_ops) {
    if (p.op == "Add") {
      if (e.has_residual) return "more than one fused Add";
      if (p.input_index < 0 || !view.has_input(static_cast<std::size_t>(p.input_index)) ||
          view.outputs.empty() || *view.inputs[p.input_index] != *view.outputs[0])
        return "fused Add of an operand unlike the output";
      e.has_residual = true;
      e.residual_last = activated;
      e.residual_input = p.input_index;
    } else if (activated || !set_activation(p, e)) {
      return fmt::format("fused {}", p.op);
    } else {
      activated = true;
      if (e.has_residual) e.residual_last = false;
    }
  }
  return {};
}

}  // namespace espalier::simd
