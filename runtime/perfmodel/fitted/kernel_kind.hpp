#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The kernels whose times are fitted, and what describes one call of each.
namespace espalier::fitted {

enum class KernelKind : std::uint8_t {
  conv_forward,
  conv_backward_input,
  conv_backward_weight,
  gemm,
  recurrent_forward,
  recurrent_backward
};
inline constexpr std::array kAllKernels = {KernelKind::conv_forward,         KernelKind::conv_backward_input,
                                           KernelKind::conv_backward_weight, KernelKind::gemm,
                                           KernelKind::recurrent_forward,    KernelKind::recurrent_backward};
std::string_view name_of(KernelKind kind);
std::optional<KernelKind> kernel_named(std::string_view name);

/// One call in the order of parameter_names(kind):
/// convolution: W, H, C, N, K (filters), R (filter's height), S (width), pad h, pad w, stride h, stride w;
/// matrix product C[M, N] = A[M, K] B[K, N]: M, N, K, A transposed (0 or 1), B transposed;
/// recurrent: kind (0 plain, 1 LSTM, 2 GRU), hidden (equal to the input), batch, time steps.
using Problem = std::vector<double>;
std::span<const std::string_view> parameter_names(KernelKind kind);

/// Whether the call has an output at all (a filter no larger than its padded input, ...).
bool is_possible(KernelKind kind, const Problem& problem);
/// Multiplications and additions; bytes of all operands at 4 bytes a value.
double flops_of(KernelKind kind, const Problem& problem);
double bytes_of(KernelKind kind, const Problem& problem);

/// Natural logarithms of positive quantities of a call by name: "flops", "bytes", "filters", ...;
/// InternalError for a name that the kernel does not have.
double log_feature(KernelKind kind, const Problem& problem, std::string_view feature);
bool has_feature(KernelKind kind, std::string_view feature);

/// "W 56, H 56, C 64, ..." for messages.
std::string to_text(KernelKind kind, const Problem& problem);

}  // namespace espalier::fitted
