#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "graphs/ir/tensor.hpp"

namespace espalier {

using Attribute = std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>,
                               std::vector<double>, std::vector<std::string>, Tensor>;

/// Attributes of a node under ONNX's names. A getter throws InputError naming the attribute, the kind found
/// and the kind needed; those without a default also when it is absent.
class Attributes {
 public:
  bool has(const std::string& name) const { return values_.count(name) != 0; }
  void set(const std::string& name, Attribute value) { values_[name] = std::move(value); }
  void erase(const std::string& name) { values_.erase(name); }
  const std::map<std::string, Attribute>& all() const { return values_; }

  std::int64_t get_int(const std::string& name) const;
  std::int64_t get_int(const std::string& name, std::int64_t fallback) const;
  double get_float(const std::string& name, double fallback) const;
  std::string get_string(const std::string& name, const std::string& fallback) const;
  std::vector<std::int64_t> get_ints(const std::string& name, std::vector<std::int64_t> fallback = {}) const;
  std::vector<double> get_floats(const std::string& name, std::vector<double> fallback = {}) const;
  std::vector<std::string> get_strings(const std::string& name, std::vector<std::string> fallback = {}) const;
  const Tensor& get_tensor(const std::string& name) const;

 private:
  template <class T>
  const T* find(const std::string& name) const;
  std::map<std::string, Attribute> values_;
};

}  // namespace espalier
