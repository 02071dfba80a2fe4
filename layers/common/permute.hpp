#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graphs/ir/layer.hpp"

/// Help for PermuteRule (graphs/ir/layer.hpp).
namespace espalier {

/// out[i] = in[perm[i]] of axes, data moved. Any dtype.
Tensor permuted_tensor(const Tensor& in, std::span<const int> perm);

/// perm turned round: inverse[perm[i]] = i.
std::vector<int> inverse_permutation(std::span<const int> perm);

/// PermuteRule of operators that broadcast their inputs element by element. Constants are brought to full
/// rank and permuted (as new constants); inputs of full rank are taken as permuted; one element stays as it
/// is. A run-time input of lower rank, or any of higher rank than perm, is refused.
std::optional<std::vector<int>> permute_elementwise(Graph& graph, Node& node, std::span<const int> perm);

}  // namespace espalier
