#pragma once

#include <span>

#include "graphs/ir/layer.hpp"

namespace espalier {

/// ReduceSum, Mean, Max, Min, Prod, L1, L2, LogSum, LogSumExp and SumSquare.
std::span<const Layer> reduce_layers();

/// ArgMax, ArgMin, TopK, CumSum and Hardmax: results that depend on the order along one axis.
std::span<const Layer> axis_layers();

}  // namespace espalier
