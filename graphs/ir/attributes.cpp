#include "graphs/ir/attributes.hpp"

#include <array>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr std::array kKinds = {"an integer",        "a number",          "a string", "a list of integers",
                               "a list of numbers", "a list of strings", "a tensor"};

}  // namespace

template <class T>
const T* Attributes::find(const std::string& name) const {
  const auto it = values_.find(name);
  if (it == values_.end()) return nullptr;
  if (const T* v = std::get_if<T>(&it->second)) return v;
  throw InputError(fmt::format("attribute {} is {}, {} is needed", name, kKinds[it->second.index()],
                               kKinds[Attribute(T{}).index()]));
}

std::int64_t Attributes::get_int(const std::string& name) const {
  if (const auto* v = find<std::int64_t>(name)) return *v;
  throw InputError(fmt::format("attribute {} (an integer) is missing", name));
}

std::int64_t Attributes::get_int(const std::string& name, std::int64_t fallback) const {
  const auto* v = find<std::int64_t>(name);
  return v != nullptr ? *v : fallback;
}

double Attributes::get_float(const std::string& name, double fallback) const {
  const auto* v = find<double>(name);
  return v != nullptr ? *v : fallback;
}

std::string Attributes::get_string(const std::string& name, const std::string& fallback) const {
  const auto* v = find<std::string>(name);
  return v != nullptr ? *v : fallback;
}

std::vector<std::int64_t> Attributes::get_ints(const std::string& name,
                                               std::vector<std::int64_t> fallback) const {
  const auto* v = find<std::vector<std::int64_t>>(name);
  return v != nullptr ? *v : std::move(fallback);
}

std::vector<double> Attributes::get_floats(const std::string& name, std::vector<double> fallback) const {
  const auto* v = find<std::vector<double>>(name);
  return v != nullptr ? *v : std::move(fallback);
}

std::vector<std::string> Attributes::get_strings(const std::string& name,
                                                 std::vector<std::string> fallback) const {
  const auto* v = find<std::vector<std::string>>(name);
  return v != nullptr ? *v : std::move(fallback);
}

const Tensor& Attributes::get_tensor(const std::string& name) const {
  if (const auto* v = find<Tensor>(name)) return *v;
  throw InputError(fmt::format("attribute {} (a tensor) is missing", name));
}

}  // namespace espalier
