#include "experiments/cli/number.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string>

namespace espalier {
namespace {

/// The whole text as a number; false when it is none or too large for its type.
template <class Number>
bool parse(const std::string& text, Number& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && stop == end;
}

bool in_range(const std::string& text, std::int64_t least, std::uint64_t most) {
  if (std::int64_t value = 0; parse(text, value))
    return value >= least && (value < 0 || static_cast<std::uint64_t>(value) <= most);
  std::uint64_t large = 0;
  return parse(text, large) && large <= most;
}

/// Without leading zeros, which CLI11 would take for an octal number.
std::string without_zeros(const std::string& text) {
  const std::string sign = text.starts_with('-') ? "-" : "";
  const std::size_t first = text.find_first_not_of('0', sign.size());
  return first == std::string::npos ? "0" : sign + text.substr(first);
}

}  // namespace

CLI::Validator whole_number(std::int64_t least, std::uint64_t most) {
  const auto check = [least, most](std::string& text) -> std::string {
    if (!in_range(text, least, most))
      return fmt::format("{}: a whole number from {} to {} is needed", text, least, most);
    text = without_zeros(text);
    return {};
  };
  return {check, fmt::format("{} .. {}", least, most), "whole number"};
}

CLI::Validator number(double least, double most) {
  const auto check = [least, most](const std::string& text) -> std::string {
    double value = 0;
    if (parse(text, value) && value >= least && value <= most) return {};
    return fmt::format("{}: a number from {} to {} is needed", text, least, most);
  };
  return {check, fmt::format("{} .. {}", least, most), "number"};
}

CLI::Validator positive_number(double most) {
  const auto check = [most](const std::string& text) -> std::string {
    double value = 0;
    if (parse(text, value) && value > 0 && value <= most) return {};
    return fmt::format("{}: a number of more than 0, at most {}, is needed", text, most);
  };
  return {check, fmt::format("> 0 .. {}", most), "positive number"};
}

CLI::Validator seed_number() {
  return whole_number(0, std::numeric_limits<std::uint64_t>::max());
}

}  // namespace espalier
