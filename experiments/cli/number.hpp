#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>

/// Ranges of options that take a number, as `add_option("--batch", batch, "...")->transform(whole_number(1,
/// 64))`. CLI11's own conversions clamp what is too large and read 010 as eight; with these the text has to
/// be a decimal number as a whole, finite and in the range, which the refusal and --help name.
namespace espalier {

/// What a network may be asked to run; whether it fits into memory is found out later.
constexpr std::uint64_t kMostBatch = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostRuns = 1'000'000'000;
constexpr std::uint64_t kMostCores = 1'000'000;
/// Three bytes each have to fit into memory.
constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 32;
/// In seconds, some years: clocks can add it up.
constexpr double kMostSeconds = 1e8;

/// least <= value <= most.
CLI::Validator whole_number(std::int64_t least, std::uint64_t most);
CLI::Validator number(double least, double most);
/// 0 < value <= most.
CLI::Validator positive_number(double most);
/// Any seed.
CLI::Validator seed_number();

}  // namespace espalier
