#pragma once

#include "graphs/ir/layer.hpp"

namespace espalier {

/// ArgMax or ArgMin: int64 indices along attribute `axis` (default 0), the first of equals, or the last with
/// select_last_index.
Layer arg_layer(std::string_view op, std::string_view summary);

/// TopK: the k greatest (or least) elements along `axis` (default -1) and their int64 indices, sorted; the
/// lower index first among equals; NaN counts as greatest. k is a constant input.
Layer top_k_layer();

/// CumSum: running sum along an axis given as input 1.
Layer cum_sum_layer();

/// Hardmax: 1 at the first greatest element along `axis` (default -1), else 0.
Layer hardmax_layer();

}  // namespace espalier
