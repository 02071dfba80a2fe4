#pragma once

/// In front of a loop with a small constant count: unroll it whole, so that arrays of accumulators become
/// registers.
#if defined(__clang__)
#define ESPALIER_UNROLL _Pragma("clang loop unroll(full)")
#else
#define ESPALIER_UNROLL _Pragma("GCC unroll 32")
#endif
