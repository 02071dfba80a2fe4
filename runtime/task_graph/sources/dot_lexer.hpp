#pragma once

#include <string>
#include <string_view>

namespace espalier::source {

enum class DotTokenKind { id, arrow, line, open, close, left, right, comma, semicolon, equals, colon, end };

struct DotToken {
  DotTokenKind kind = DotTokenKind::end;
  std::string text;
  bool quoted = false;  ///< a keyword in quotes is a name
  std::size_t where = 1;
};

/// Splits the DOT language into tokens: names, numerals, quoted (joined by +) and HTML strings; skips the
/// three kinds of comment. InputError with the line for what is neither.
class DotLexer {
 public:
  DotLexer(std::string_view text, const std::string& name) : text_(text), name_(name) {}
  DotToken next();

 private:
  void skip_blanks();
  std::string quoted();
  std::string html();
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 1;
};

}  // namespace espalier::source
