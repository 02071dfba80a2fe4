#include <cmath>
#include <fmt/format.h>

#include "experiments/compare/comparison.hpp"

namespace espalier {
namespace {

/// Four significant digits, without an exponent where the number is of everyday size.
std::string digits(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size >= 1e7 || size < 1e-3) return fmt::format("{:.3e}", value);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, 4 - before));
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') text.pop_back();
  }
  return text;
}

}  // namespace

std::string show_time(double seconds, bool unit_less) {
  const double size = std::abs(seconds);
  if (unit_less || size == 0) return digits(seconds);
  if (size >= 1) return digits(seconds) + " s";
  if (size >= 1e-3) return digits(seconds * 1e3) + " ms";
  if (size >= 1e-6) return digits(seconds * 1e6) + " us";
  return digits(seconds * 1e9) + " ns";
}

std::string show_bytes(double bytes, bool unit_less) {
  if (unit_less) return digits(bytes);
  if (bytes >= 1e9) return digits(bytes / 1e9) + " GB";
  if (bytes >= 1e6) return digits(bytes / 1e6) + " MB";
  if (bytes >= 1e3) return digits(bytes / 1e3) + " kB";
  return digits(bytes) + " B";
}

std::string show_count(double value) {
  return digits(value);
}

}  // namespace espalier
