#include "runtime/perfmodel/fitted/device_match.hpp"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"

namespace espalier::fitted {
namespace {

/// Data sheets of the makers, form factor as measured (the V100 reaches 14.8 Tflop/s, more than a PCIe card's
/// peak, so it is an SXM2 module).
struct Published {
  std::string_view device;
  double flops, bandwidth;
};
constexpr Published kPublished[] = {
    {"NV_V100/fp32", 15.7e12, 900e9},       {"NV_V100/fp16_mixed", 125e12, 900e9},
    {"NV_P100/fp32", 9.3e12, 732e9},        {"NV_T4/fp32", 8.1e12, 320e9},
    {"NV_T4/fp16_mixed", 65e12, 320e9},     {"NV_1080Ti/fp32", 11.3e12, 484e9},
    {"NV_TitanXp/fp32", 12.15e12, 547.7e9}, {"NV_TitanX_Pascal/fp32", 11e12, 480e9},
    {"NV_TitanX/fp32", 6.7e12, 336.5e9},    {"NV_M40/fp32", 6.8e12, 288e9},
    {"AMD_MI25/fp32", 12.3e12, 484e9},      {"AMD_VegaFE/fp32", 13.1e12, 484e9},
    {"IA_KNL7250/fp32", 6.1e12, 400e9},
};

/// Not measured, and of the same maker's line.
constexpr std::string_view kNewer[] = {"a10",  "a30",  "a40",  "a100", "a800",  "l4",   "l40",
                                       "l40s", "h100", "h800", "h200", "gh200", "b100", "b200"};
constexpr std::string_view kBase = "NV_V100/fp32";

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// "NV_TitanX_Pascal/fp32" -> "titanxpascal"; empty for other precisions.
std::string fp32_name(std::string_view device) {
  constexpr std::string_view precision = "/fp32";
  if (!device.ends_with(precision)) return {};
  device.remove_suffix(precision.size());
  for (const std::string_view maker : {"NV_", "AMD_", "IA_"})
    if (device.starts_with(maker)) device.remove_prefix(maker.size());
  return plain(device);
}

/// "titan-x-pascal" -> titanxpascal, titanx, titan.
std::vector<std::string> candidates(const std::string& kind) {
  std::vector<std::string> out;
  std::string_view rest = kind;
  for (;;) {
    out.push_back(plain(rest));
    const std::size_t dash = rest.find_last_of("-_ ");
    if (dash == std::string_view::npos) return out;
    rest = rest.substr(0, dash);
  }
}

const Published* published(std::string_view device) {
  for (const Published& p : kPublished)
    if (p.device == device) return &p;
  return nullptr;
}

DeviceMatch unscaled(const std::string& device) {
  DeviceMatch match;
  match.device = device;
  if (const Published* p = published(device)) {
    match.published_flops = p->flops;
    match.published_bandwidth = p->bandwidth;
  }
  return match;
}

std::optional<DeviceMatch> scaled(const DeviceKind& kind, const std::string& device) {
  DeviceMatch match = unscaled(device);
  if (match.published_flops <= 0 || kind.peak_flops <= 0 || kind.memory_bandwidth <= 0) return std::nullopt;
  match.scaled = true;
  match.flops_ratio = kind.peak_flops / match.published_flops;
  match.bandwidth_ratio = kind.memory_bandwidth / match.published_bandwidth;
  return match;
}

std::optional<DeviceMatch> as_told(const DeviceKind& kind, const std::vector<std::string>& devices) {
  const char* key = kind.costs_scaled ? "scaled_costs" : "costs";
  if (std::find(devices.begin(), devices.end(), kind.costs) == devices.end())
    throw InputError(fmt::format("kind {}: {} \"{}\": there are no such costs; known are {}", kind.name, key,
                                 kind.costs, fmt::join(devices, ", ")));
  if (!kind.costs_scaled) return unscaled(kind.costs);
  const auto match = scaled(kind, kind.costs);
  if (!match) {
    std::vector<std::string_view> known;
    for (const Published& p : kPublished) known.push_back(p.device);
    throw InputError(fmt::format(
        "kind {}: scaled_costs \"{}\": scaling needs the kind's peak and memory_bandwidth, and the published "
        "ones of the other; these are known of {}",
        kind.name, kind.costs, fmt::join(known, ", ")));
  }
  return match;
}

}  // namespace

std::optional<DeviceMatch> match_device(const DeviceKind& kind, const std::vector<std::string>& devices) {
  if (!kind.costs.empty()) return as_told(kind, devices);
  for (const std::string& name : candidates(kind.name))
    for (const std::string& device : devices)
      if (!name.empty() && fp32_name(device) == name) return unscaled(device);
  if (std::find(devices.begin(), devices.end(), kBase) == devices.end()) return std::nullopt;
  for (const std::string& name : candidates(kind.name))
    if (std::find(std::begin(kNewer), std::end(kNewer), name) != std::end(kNewer))
      return scaled(kind, std::string(kBase));
  return std::nullopt;
}

}  // namespace espalier::fitted
