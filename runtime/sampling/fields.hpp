#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace espalier::sampling {

/// Blank-separated fields of a text in which `#` starts a comment, with the line for errors. The text must
/// outlive it.
class Fields {
 public:
  Fields(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  /// InputError at the end of the text; `what` says what was expected there.
  std::string_view next(const char* what);
  /// A whole number from `least` to `most`.
  std::int64_t whole(const char* what, std::int64_t least, std::int64_t most);
  /// A number; nan where `nan_allowed`.
  double number(const char* what, bool nan_allowed = false);
  std::uint32_t hexadecimal(const char* what);
  bool at_end();
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void skip();
  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 1;
};

/// "nan", "-nan" and numbers as printf and scanf know them; nullopt for anything else.
std::optional<double> parse_number(std::string_view text);

}  // namespace espalier::sampling
