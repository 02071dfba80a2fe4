#pragma once

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <string>

#include "graphs/base/error.hpp"
#include "runtime/task_graph/sources/text.hpp"

/// Checked access to JSON for the readers; a source file's helper, not to be included by headers.
namespace espalier::source {

class JsonFields {
 public:
  explicit JsonFields(const std::string& name) : name_(name) {}

  [[noreturn]] void refuse(const std::string& message) const {
    throw InputError(fmt::format("{}: {}", name_, message));
  }
  nlohmann::json parse(std::string_view text) const {
    try {
      return nlohmann::json::parse(text);
    } catch (const nlohmann::json::parse_error& e) {
      const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(e.byte, text.size()));
      fail(name_, 1 + static_cast<std::size_t>(std::count(text.begin(), end, '\n')),
           fmt::format("not valid JSON: {}", e.what()));
    } catch (const nlohmann::json::exception& e) {  // a number that no double holds: it has no position
      refuse(fmt::format("not valid JSON: {}", e.what()));
    }
  }
  const nlohmann::json* find(const nlohmann::json& object, const char* key) const {
    if (!object.is_object()) return nullptr;
    const auto it = object.find(key);
    return it == object.end() || it->is_null() ? nullptr : &*it;
  }
  const nlohmann::json& need(const nlohmann::json& object, const char* key, const std::string& where) const {
    const nlohmann::json* value = find(object, key);
    if (value == nullptr) refuse(fmt::format("{} has no \"{}\"", where, key));
    return *value;
  }
  const nlohmann::json& list(const nlohmann::json& object, const char* key, const std::string& where) const {
    const nlohmann::json& value = need(object, key, where);
    if (!value.is_array()) refuse(fmt::format("\"{}\" of {} is no list", key, where));
    return value;
  }
  double number(const nlohmann::json& value, const std::string& what, double most) const {
    if (!value.is_number()) refuse(fmt::format("{}: a number was expected", what));
    const double v = value.get<double>();
    if (!std::isfinite(v) || v < 0 || v > most)
      refuse(fmt::format("{}: {} is outside 0 .. {}", what, v, most));
    return v;
  }
  /// A text, or a whole number as text.
  std::string id(const nlohmann::json& value, const std::string& what) const {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_integer()) return std::to_string(value.get<std::int64_t>());
    refuse(fmt::format("{}: a name or a whole number was expected", what));
  }

 private:
  const std::string& name_;
};

}  // namespace espalier::source
