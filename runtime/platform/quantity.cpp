#include "runtime/platform/quantity.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <span>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

constexpr double kKi = 1024, kMi = kKi * kKi, kGi = kMi * kKi, kTi = kGi * kKi;

constexpr Unit kBytes[] = {{"B", 1},     {"kB", 1e3},  {"MB", 1e6},  {"GB", 1e9}, {"TB", 1e12},
                           {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}};
constexpr Unit kBandwidth[] = {{"B/s", 1},     {"kB/s", 1e3},       {"MB/s", 1e6},      {"GB/s", 1e9},
                               {"TB/s", 1e12}, {"KiB/s", kKi},      {"MiB/s", kMi},     {"GiB/s", kGi},
                               {"TiB/s", kTi}, {"Mbit/s", 1e6 / 8}, {"Gbit/s", 1e9 / 8}};
constexpr Unit kTime[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"\xc2\xb5s", 1e-6}, {"ns", 1e-9}};
constexpr Unit kCompute[] = {{"flop/s", 1},    {"kflop/s", 1e3},  {"Mflop/s", 1e6},
                             {"Gflop/s", 1e9}, {"Tflop/s", 1e12}, {"Pflop/s", 1e15}};

std::span<const Unit> units_of(Dimension dimension) {
  switch (dimension) {
    case Dimension::bytes:
      return kBytes;
    case Dimension::bandwidth:
      return kBandwidth;
    case Dimension::time:
      return kTime;
    case Dimension::compute:
      return kCompute;
  }
  return {};
}

}  // namespace

std::string accepted_units(Dimension dimension) {
  std::string out;
  for (const Unit& u : units_of(dimension)) {
    if (!out.empty()) out += ", ";
    out += u.name;
  }
  return out;
}

double parse_quantity(std::string_view text, Dimension dimension) {
  constexpr std::string_view blanks = " \t";
  const auto bad = [&](std::string_view why) {
    std::string shown(text.substr(0, 40));
    for (char& c : shown)
      if (static_cast<unsigned char>(c) < ' ') c = '?';
    return InputError(fmt::format("\"{}\": {}; accepted is a number >= 0 with one of {}", shown, why,
                                  accepted_units(dimension)));
  };
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(blanks)));
  double value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code != std::errc{} || !std::isfinite(value) || value < 0) throw bad("no such number");
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  rest.remove_prefix(std::min(rest.size(), rest.find_first_not_of(blanks)));
  while (!rest.empty() && blanks.find(rest.back()) != std::string_view::npos) rest.remove_suffix(1);
  if (rest.empty()) throw bad("the unit is missing");
  for (const Unit& u : units_of(dimension))
    if (u.name == rest) {
      if (!std::isfinite(value * u.factor)) throw bad("the number is too large");
      return value * u.factor;
    }
  throw bad("unknown unit");
}

}  // namespace espalier
