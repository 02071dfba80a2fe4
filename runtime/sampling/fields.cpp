#include "runtime/sampling/fields.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "graphs/base/error.hpp"

namespace espalier::sampling {

std::optional<double> parse_number(std::string_view text) {
  if (text == "nan" || text == "-nan") return std::numeric_limits<double>::quiet_NaN();
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || std::isnan(value)) return std::nullopt;
  return value;
}

void Fields::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      line_ += c == '\n' ? 1U : 0U;
      ++at_;
    } else {
      return;
    }
  }
}

bool Fields::at_end() {
  skip();
  return at_ == text_.size();
}

std::string_view Fields::next(const char* what) {
  skip();
  if (at_ == text_.size()) fail(fmt::format("the file ends where {} was expected", what));
  const std::size_t end = std::min(text_.find_first_of(" \t\r\n#", at_), text_.size());
  const std::string_view field = text_.substr(at_, end - at_);
  at_ = end;
  return field;
}

std::int64_t Fields::whole(const char* what, std::int64_t least, std::int64_t most) {
  const std::string_view field = next(what);
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (code != std::errc{} || end != field.data() + field.size() || value < least || value > most)
    fail(fmt::format("{} is \"{}\"; a whole number from {} to {} was expected", what, field.substr(0, 40),
                     least, most));
  return value;
}

double Fields::number(const char* what, bool nan_allowed) {
  const std::string_view field = next(what);
  const auto value = parse_number(field);
  if (!value || std::isinf(*value) || (std::isnan(*value) && !nan_allowed))
    fail(fmt::format("{} is \"{}\"; a number was expected", what, field.substr(0, 40)));
  return *value;
}

std::uint32_t Fields::hexadecimal(const char* what) {
  const std::string_view field = next(what);
  std::uint32_t value = 0;
  const auto [end, code] = std::from_chars(field.data(), field.data() + field.size(), value, 16);
  if (code != std::errc{} || end != field.data() + field.size())
    fail(
        fmt::format("{} is \"{}\"; up to eight hexadecimal digits were expected", what, field.substr(0, 40)));
  return value;
}

void Fields::fail(const std::string& message) const {
  throw InputError(fmt::format("{}:{}: {}", name_, line_, message));
}

}  // namespace espalier::sampling
