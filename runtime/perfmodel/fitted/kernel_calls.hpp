#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/perfmodel/fitted/kernel_kind.hpp"

namespace espalier::fitted {

/// A part of a task's time: `times` x that of one call.
struct KernelCall {
  KernelKind kind = KernelKind::gemm;
  Problem problem;
  double times = 1;
};

/// What a task does in calls of the fitted kernels.
struct KernelCalls {
  std::vector<KernelCall> calls;
  /// No such call was measured as it is: batched products, recurrent layers whose input is not as wide as the
  /// hidden state. The sum stands for it.
  bool composed = false;
};

/// The calls of a task of a network, told from its codelet ("conv2d_forward", "conv2d_backward_input",
/// "gemm_backward_weight", "lstm_forward", ...) and signature (of one node, float32): ungrouped convolutions
/// over one or two axes and their transposed ones, Gemm, MatMul, LSTM, GRU, RNN. nullopt for everything else.
std::optional<KernelCalls> kernel_calls(const std::string& codelet, const std::string& signature);

}  // namespace espalier::fitted
