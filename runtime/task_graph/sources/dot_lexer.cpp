#include "runtime/task_graph/sources/dot_lexer.hpp"

#include <cctype>
#include <fmt/format.h>

#include "runtime/task_graph/sources/text.hpp"

namespace espalier::source {
namespace {

bool in_name(char c) {
  const auto u = static_cast<unsigned char>(c);
  return std::isalnum(u) != 0 || c == '_' || u >= 0x80;
}

}  // namespace

void DotLexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = peek();
    if (c == '\n') {
      ++line_;
      ++at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0 || c == '\0') {
      ++at_;
    } else if (c == '#' || (c == '/' && peek(1) == '/')) {
      while (at_ < text_.size() && peek() != '\n') ++at_;
    } else if (c == '/' && peek(1) == '*') {
      const std::size_t begin = line_;
      for (at_ += 2; !(peek() == '*' && peek(1) == '/'); ++at_) {
        if (at_ >= text_.size()) fail(name_, begin, "this comment is never closed by */");
        if (peek() == '\n') ++line_;
      }
      at_ += 2;
    } else {
      return;
    }
  }
}

std::string DotLexer::quoted() {
  std::string out;
  const std::size_t begin = line_;
  for (++at_; at_ < text_.size() && peek() != '"'; ++at_) {
    if (peek() == '\n') ++line_;
    if (peek() == '\\' && peek(1) == '"') {
      out += '"';
      ++at_;
    } else if (peek() == '\\' && peek(1) == '\n') {
      ++line_;
      ++at_;
    } else {
      out += peek();
    }
  }
  if (at_ >= text_.size()) fail(name_, begin, "this quoted name is never closed");
  ++at_;
  return out;
}

std::string DotLexer::html() {
  std::string out;
  const std::size_t begin = line_;
  int depth = 0;
  do {
    if (at_ >= text_.size()) fail(name_, begin, "this <...> string is never closed");
    if (peek() == '\n') ++line_;
    if (peek() == '<') ++depth;
    if (peek() == '>') --depth;
    out += peek();
    ++at_;
  } while (depth > 0);
  return out;
}

DotToken DotLexer::next() {
  skip_blanks();
  DotToken token;
  token.where = line_;
  if (at_ >= text_.size()) return token;
  const char c = peek();
  const auto punctuation = [&](DotTokenKind kind, std::size_t length) {
    token.kind = kind;
    token.text = std::string(text_.substr(at_, length));
    at_ += length;
    return token;
  };
  switch (c) {
    case '{':
      return punctuation(DotTokenKind::open, 1);
    case '}':
      return punctuation(DotTokenKind::close, 1);
    case '[':
      return punctuation(DotTokenKind::left, 1);
    case ']':
      return punctuation(DotTokenKind::right, 1);
    case ',':
      return punctuation(DotTokenKind::comma, 1);
    case ';':
      return punctuation(DotTokenKind::semicolon, 1);
    case '=':
      return punctuation(DotTokenKind::equals, 1);
    case ':':
      return punctuation(DotTokenKind::colon, 1);
    default:
      break;
  }
  if (c == '-' && peek(1) == '>') return punctuation(DotTokenKind::arrow, 2);
  if (c == '-' && peek(1) == '-') return punctuation(DotTokenKind::line, 2);
  token.kind = DotTokenKind::id;
  if (c == '"') {
    token.quoted = true;
    token.text = quoted();
    for (;;) {
      skip_blanks();
      if (peek() != '+') return token;
      ++at_;
      skip_blanks();
      if (peek() != '"') fail(name_, line_, "behind + another quoted string was expected");
      token.text += quoted();
    }
  }
  if (c == '<') {
    token.quoted = true;
    token.text = html();
    return token;
  }
  const bool numeral = c == '-' || c == '.' || c == '+' || std::isdigit(static_cast<unsigned char>(c)) != 0;
  while (at_ < text_.size() &&
         (in_name(peek()) || (numeral && (peek() == '.' || peek() == '-' || peek() == '+')))) {
    if (numeral && !token.text.empty() && (peek() == '-' || peek() == '+') && token.text.back() != 'e' &&
        token.text.back() != 'E')
      break;  // the - of an edge, not of an exponent
    token.text += peek();
    ++at_;
  }
  if (token.text.empty()) fail(name_, line_, fmt::format("unexpected character \"{}\"", shown({&c, 1})));
  return token;
}

}  // namespace espalier::source
