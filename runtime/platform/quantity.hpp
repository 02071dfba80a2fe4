#pragma once

#include <string>
#include <string_view>

namespace espalier {

/// What a number with a unit measures.
enum class Dimension { bytes, bandwidth, time, compute };

/// "16 GiB", "12 GB/s", "100 Gbit/s", "10 us", "15.7 Tflop/s" in bytes, bytes/s, seconds, flop/s. kB, MB, GB,
/// TB are powers of 10, KiB, MiB, GiB, TiB powers of 2. InputError with what is accepted for a missing or
/// unknown unit, or for a number that is not finite and >= 0.
double parse_quantity(std::string_view text, Dimension dimension);

/// The units of a dimension, in words.
std::string accepted_units(Dimension dimension);

}  // namespace espalier
