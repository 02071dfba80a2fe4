#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace espalier::source {

/// "name:main,key=value,..." split up. Each option is asked for once; finish() refuses what nobody asked for.
class GeneratorOptions {
 public:
  explicit GeneratorOptions(std::string_view text);
  const std::string& name() const { return name_; }
  /// The value of `key`, or of the bare first value when `is_main`. InputError outside [least, most].
  std::int64_t whole(std::string_view key, std::int64_t otherwise, std::int64_t least, std::int64_t most,
                     bool is_main = false);
  double number(std::string_view key, double otherwise, double least, double most);
  /// InputError naming options that are not known and those that are.
  void finish() const;
  [[noreturn]] void refuse(const std::string& message) const;

 private:
  const std::string* take(std::string_view key, bool is_main);
  std::string text_, name_;
  std::vector<std::pair<std::string, std::string>> given_;
  std::vector<char> taken_;
  std::string known_;
};

/// Numbers that depend on the seed only (splitmix64), not on the library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next();
  std::uint64_t below(std::uint64_t n) { return next() % n; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace espalier::source
