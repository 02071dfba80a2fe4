#include "runtime/perfmodel/fitted/kernel_kind.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier::fitted {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"conv_forward",         "conv_backward_input",
                                                    "conv_backward_weight", "gemm",
                                                    "recurrent_forward",    "recurrent_backward"};
constexpr std::array<std::string_view, 11> kConv = {"W",   "H",     "C",     "N",        "K",       "R_h",
                                                    "S_w", "pad_h", "pad_w", "stride_h", "stride_w"};
constexpr std::array<std::string_view, 5> kGemm = {"M", "N", "K", "transA", "transB"};
constexpr std::array<std::string_view, 4> kRecurrent = {"kind", "hidden", "batch", "timesteps"};

struct Feature {
  std::string_view name;
  double (*value)(const Problem& p);
};

double out_height(const Problem& p) {
  return std::floor((p[1] + 2 * p[7] - p[5]) / p[9]) + 1;
}
double out_width(const Problem& p) {
  return std::floor((p[0] + 2 * p[8] - p[6]) / p[10]) + 1;
}
double input_size(const Problem& p) {
  return p[3] * p[2] * p[1] * p[0];
}
double output_size(const Problem& p) {
  return p[3] * p[4] * out_height(p) * out_width(p);
}
double weight_size(const Problem& p) {
  return p[4] * p[2] * p[5] * p[6];
}
double gates(const Problem& p) {
  return p[0] == 1 ? 4 : p[0] == 2 ? 3 : 1;
}
// a choice is 0 or 1; as a logarithm it needs the values 1 and e
double choice(bool yes) {
  return yes ? std::exp(1.0) : 1.0;
}

constexpr Feature kConvFeatures[] = {
    {"flops", [](const Problem& p) { return 2 * output_size(p) * p[2] * p[5] * p[6]; }},
    {"bytes", [](const Problem& p) { return 4 * (input_size(p) + output_size(p) + weight_size(p)); }},
    {"pixels", [](const Problem& p) { return p[3] * out_height(p) * out_width(p); }},
    {"filters", [](const Problem& p) { return p[4]; }},
    {"patch", [](const Problem& p) { return p[2] * p[5] * p[6]; }},
    {"filter_area", [](const Problem& p) { return p[5] * p[6]; }},
    {"stride_area", [](const Problem& p) { return p[9] * p[10]; }},
    {"output_area", [](const Problem& p) { return out_height(p) * out_width(p); }},
    {"channels", [](const Problem& p) { return p[2]; }},
    {"batch", [](const Problem& p) { return p[3]; }},
    {"input", [](const Problem& p) { return input_size(p); }},
    {"output", [](const Problem& p) { return output_size(p); }},
    {"weights", [](const Problem& p) { return weight_size(p); }},
    {"height", [](const Problem& p) { return p[1]; }},
    {"output_height", [](const Problem& p) { return out_height(p); }},
    {"narrow_channels", [](const Problem& p) { return std::min(p[2], p[4]); }},
    {"wide_channels", [](const Problem& p) { return std::max(p[2], p[4]); }},
    // values at one frequency of the transforms of input, output and weight (Mathieu, Henaff & LeCun 2013)
    {"spectra", [](const Problem& p) { return p[3] * p[2] + p[3] * p[4] + p[2] * p[4]; }},
    {"three_by_three", [](const Problem& p) { return choice(p[5] == 3 && p[6] == 3); }},
    // 3 x 3 with stride 1: libraries have a faster algorithm (Lavin & Gray 2016)
    {"winograd", [](const Problem& p) { return choice(p[5] == 3 && p[6] == 3 && p[9] == 1 && p[10] == 1); }},
};
constexpr Feature kGemmFeatures[] = {
    {"flops", [](const Problem& p) { return 2 * p[0] * p[1] * p[2]; }},
    {"bytes", [](const Problem& p) { return 4 * (p[0] * p[1] + p[0] * p[2] + p[1] * p[2]); }},
    {"M", [](const Problem& p) { return p[0]; }},
    {"N", [](const Problem& p) { return p[1]; }},
    {"K", [](const Problem& p) { return p[2]; }},
    {"output", [](const Problem& p) { return p[0] * p[1]; }},
    {"narrowest", [](const Problem& p) { return std::min(p[0], p[1]); }},
    {"transposed_a", [](const Problem& p) { return choice(p[3] != 0); }},
    {"transposed_b", [](const Problem& p) { return choice(p[4] != 0); }},
    {"ragged", [](const Problem& p) { return choice(std::fmod(p[1], 16) != 0); }},
};
constexpr Feature kRecurrentFeatures[] = {
    {"flops", [](const Problem& p) { return 4 * gates(p) * p[1] * p[1] * p[2] * p[3]; }},
    {"bytes",
     [](const Problem& p) { return 4 * (2 * gates(p) * p[1] * p[1] + (gates(p) + 2) * p[1] * p[2] * p[3]); }},
    {"step_flops", [](const Problem& p) { return 4 * gates(p) * p[1] * p[1] * p[2]; }},
    {"weights", [](const Problem& p) { return 2 * gates(p) * p[1] * p[1]; }},
    {"hidden", [](const Problem& p) { return p[1]; }},
    {"batch", [](const Problem& p) { return p[2]; }},
    {"steps", [](const Problem& p) { return p[3]; }},
    {"gates", [](const Problem& p) { return gates(p); }},
    {"plain", [](const Problem& p) { return choice(p[0] == 0); }},
    {"gru", [](const Problem& p) { return choice(p[0] == 2); }},
};

bool is_conv(KernelKind kind) {
  return kind <= KernelKind::conv_backward_weight;
}
std::span<const Feature> features_of(KernelKind kind) {
  if (is_conv(kind)) return kConvFeatures;
  return kind == KernelKind::gemm ? std::span<const Feature>(kGemmFeatures) : kRecurrentFeatures;
}
const Feature* find(KernelKind kind, std::string_view name) {
  for (const Feature& f : features_of(kind))
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace

std::string_view name_of(KernelKind kind) {
  return kNames[static_cast<std::size_t>(kind)];
}

std::optional<KernelKind> kernel_named(std::string_view name) {
  for (const KernelKind k : kAllKernels)
    if (name_of(k) == name) return k;
  return std::nullopt;
}

std::span<const std::string_view> parameter_names(KernelKind kind) {
  if (is_conv(kind)) return kConv;
  return kind == KernelKind::gemm ? std::span<const std::string_view>(kGemm) : kRecurrent;
}

bool is_possible(KernelKind kind, const Problem& p) {
  if (p.size() != parameter_names(kind).size()) return false;
  if (is_conv(kind)) {
    for (const std::size_t i : {0, 1, 2, 3, 4, 5, 6, 9, 10})
      if (!(p[i] >= 1)) return false;
    return p[7] >= 0 && p[8] >= 0 && out_height(p) >= 1 && out_width(p) >= 1;
  }
  const std::size_t first = kind == KernelKind::gemm ? 0 : 1;
  for (std::size_t i = first; i < first + 3; ++i)
    if (!(p[i] >= 1)) return false;
  return true;
}

double flops_of(KernelKind kind, const Problem& problem) {
  return find(kind, "flops")->value(problem);
}

double bytes_of(KernelKind kind, const Problem& problem) {
  return find(kind, "bytes")->value(problem);
}

bool has_feature(KernelKind kind, std::string_view feature) {
  return find(kind, feature) != nullptr;
}

double log_feature(KernelKind kind, const Problem& problem, std::string_view feature) {
  const Feature* f = find(kind, feature);
  if (f == nullptr) throw InternalError(fmt::format("{} has no feature {}", name_of(kind), feature));
  return std::log(f->value(problem));
}

std::string to_text(KernelKind kind, const Problem& problem) {
  std::string text;
  const auto names = parameter_names(kind);
  for (std::size_t i = 0; i < names.size() && i < problem.size(); ++i)
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", names[i], problem[i]);
  return text;
}

}  // namespace espalier::fitted
