#include "runtime/task_graph/sources/generator_options.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/sources/text.hpp"

namespace espalier::source {

GeneratorOptions::GeneratorOptions(std::string_view text) : text_(shown(text)) {
  const std::size_t colon = text.find(':');
  name_ = std::string(text.substr(0, colon));
  if (colon == std::string_view::npos) return;
  std::string_view rest = text.substr(colon + 1);
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      if (!given_.empty()) refuse(fmt::format("\"{}\": key=value was expected", shown(item)));
      given_.emplace_back("", std::string(item));
    } else {
      given_.emplace_back(std::string(item.substr(0, equals)), std::string(item.substr(equals + 1)));
    }
  }
  taken_.assign(given_.size(), 0);
}

void GeneratorOptions::refuse(const std::string& message) const {
  throw InputError(fmt::format("generator {}: {}", text_, message));
}

const std::string* GeneratorOptions::take(std::string_view key, bool is_main) {
  known_ += fmt::format("{}{}", known_.empty() ? "" : ", ", key);
  const std::string* found = nullptr;
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (given_[i].first == key || (is_main && given_[i].first.empty())) {
      if (found != nullptr) refuse(fmt::format("{} is there twice", key));
      taken_[i] = 1;
      found = &given_[i].second;
    }
  return found;
}

std::int64_t GeneratorOptions::whole(std::string_view key, std::int64_t otherwise, std::int64_t least,
                                     std::int64_t most, bool is_main) {
  const std::string* text = take(key, is_main);
  if (text == nullptr) return otherwise;
  std::int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, code] = std::from_chars(text->data(), end, value);
  if (code != std::errc{} || stop != end || value < least || value > most)
    refuse(fmt::format("{} must be a whole number {} .. {}, not \"{}\"", key, least, most, shown(*text)));
  return value;
}

double GeneratorOptions::number(std::string_view key, double otherwise, double least, double most) {
  const std::string* text = take(key, false);
  if (text == nullptr) return otherwise;
  double value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, code] = std::from_chars(text->data(), end, value);
  if (code != std::errc{} || stop != end || !(value >= least && value <= most))
    refuse(fmt::format("{} must be a number {} .. {}, not \"{}\"", key, least, most, shown(*text)));
  return value;
}

void GeneratorOptions::finish() const {
  for (std::size_t i = 0; i < given_.size(); ++i)
    if (taken_[i] == 0)
      refuse(fmt::format("option \"{}\" is not known; known are {}",
                         shown(given_[i].first.empty() ? given_[i].second : given_[i].first), known_));
}

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace espalier::source
