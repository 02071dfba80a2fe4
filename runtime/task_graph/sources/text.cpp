#include "runtime/task_graph/sources/text.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier::source {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";

}  // namespace

void fail(const std::string& name, std::size_t line, const std::string& message) {
  throw InputError(fmt::format("{}:{}: {}", name, line, message));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    lines.push_back(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (std::size_t i = line.find_first_not_of(kBlanks); i != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(kBlanks, i);
    fields.push_back(line.substr(i, end == std::string_view::npos ? end : end - i));
    i = end == std::string_view::npos ? end : line.find_first_not_of(kBlanks, end);
  }
  return fields;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string shown(std::string_view text) {
  std::string out(text.substr(0, 60));
  for (char& c : out)
    if (c < ' ' || c > '~') c = '?';
  return text.size() > 60 ? out + "..." : out;
}

double number(std::string_view field, const std::string& name, std::size_t line, const char* what,
              double most) {
  double value = 0;
  if (!field.empty() && field.front() == '+') field.remove_prefix(1);
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (code != std::errc{} || end != field.data() + field.size() || !std::isfinite(value))
    fail(name, line, fmt::format("{}: a number was expected, not \"{}\"", what, shown(field)));
  if (value < 0 || value > most)
    fail(name, line, fmt::format("{}: {} is outside 0 .. {}", what, value, most));
  return value;
}

std::size_t count(std::string_view field, const std::string& name, std::size_t line, const char* what,
                  std::size_t most) {
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (code != std::errc{} || end != field.data() + field.size())
    fail(name, line, fmt::format("{}: a whole number >= 0 was expected, not \"{}\"", what, shown(field)));
  if (value > most) fail(name, line, fmt::format("{}: {} is more than {}", what, value, most));
  return value;
}

}  // namespace espalier::source
