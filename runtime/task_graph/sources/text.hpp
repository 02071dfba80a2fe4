#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Helpers of the readers: places in a text, numbers, fields.
namespace espalier::source {

/// Throws InputError "name:line: message".
[[noreturn]] void fail(const std::string& name, std::size_t line, const std::string& message);

/// Lines without their ends (LF or CR LF).
std::vector<std::string_view> lines_of(std::string_view text);
/// Fields between blanks and tabs.
std::vector<std::string_view> fields_of(std::string_view line);
std::string_view trimmed(std::string_view text);
/// For an error text: at most 60 characters, unprintable ones as '?'.
std::string shown(std::string_view text);

/// A finite number >= 0 and <= most that fills the whole field; fails naming `what`.
double number(std::string_view field, const std::string& name, std::size_t line, const char* what,
              double most = 1e12);
/// A whole number in [0, most] that fills the whole field; fails naming `what`.
std::size_t count(std::string_view field, const std::string& name, std::size_t line, const char* what,
                  std::size_t most);

}  // namespace espalier::source
