#include "experiments/calibrate/cost_cache.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/doctor/doctor.hpp"
#include "graphs/base/error.hpp"
#include "graphs/base/file_io.hpp"

namespace espalier {
namespace {

constexpr const char* kFormat = "espalier-costs";
constexpr int kVersion = 3;

/// A positive, finite number or nullopt.
std::optional<double> number(const nlohmann::json& object, const char* name, bool zero) {
  const auto it = object.find(name);
  if (it == object.end() || !it->is_number()) return std::nullopt;
  const double value = it->get<double>();
  if (!std::isfinite(value) || value < 0 || (value == 0 && !zero)) return std::nullopt;
  return value;
}

}  // namespace

const MeasuredCost* MeasuredCosts::find(const CostClassInfo& what) const {
  const auto it = costs_.find({what.codelet, what.signature});
  return it == costs_.end() ? nullptr : &it->second;
}

std::optional<CostModel::Estimate> MeasuredCosts::estimate(const CostClassInfo& what,
                                                           const DeviceKind& kind) const {
  const MeasuredCost* cost = kind.type == DeviceType::cpu ? find(what) : nullptr;
  if (cost == nullptr) return std::nullopt;
  return Estimate{Seconds(cost->seconds),
                  CostBasis{CostSource::measured_here, "calibrated under load", cost->relative_error}};
}

void MeasuredCosts::merge(const MeasuredCosts& other) {
  for (const auto& [key, cost] : other.costs_) costs_[key] = cost;
  if (!other.overhead.measured || (other.overhead.samples == 0 && overhead.measured)) return;
  overhead = other.overhead;
  run_overhead = other.run_overhead;
  deviation = other.deviation;
}

std::string MeasuredCosts::to_json(const MachineIdentity& identity) const {
  nlohmann::ordered_json root;
  root["format"] = kFormat;
  root["version"] = kVersion;
  root["machine"] = identity;
  root["overhead"] = {
      {"measured", overhead.measured}, {"seconds", overhead.seconds}, {"samples", overhead.samples}};
  root["run_overhead"] = run_overhead;
  root["deviation"] = deviation;
  auto& list = root["costs"] = nlohmann::ordered_json::array();
  for (const auto& [key, cost] : costs_)
    list.push_back({{"codelet", key.first},
                    {"signature", key.second},
                    {"seconds", cost.seconds},
                    {"relative_error", cost.relative_error},
                    {"samples", cost.samples}});
  return root.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

namespace {

std::optional<MeasuredOverhead> overhead_of(const nlohmann::json& root) {
  const auto it = root.find("overhead");
  if (it == root.end() || !it->is_object()) return std::nullopt;
  const auto seconds = number(*it, "seconds", true), samples = number(*it, "samples", true);
  const auto measured = it->find("measured");
  if (!seconds || !samples || *samples > 1e15 || measured == it->end() || !measured->is_boolean())
    return std::nullopt;
  return MeasuredOverhead{*seconds, static_cast<std::uint64_t>(*samples), measured->get<bool>()};
}

/// Empty when the file is of this version and machine.
std::string refusal(const nlohmann::json& root, const MachineIdentity& identity) {
  if (!root.is_object() || root.value("format", nlohmann::json()) != kFormat)
    return "it is no file of costs, or damaged";
  const auto version = root.value("version", nlohmann::json());
  if (version != kVersion) return fmt::format("it is of version {}, {} is needed", version.dump(), kVersion);
  const auto machine = root.value("machine", nlohmann::json());
  if (machine == nlohmann::json(identity)) return {};
  for (const auto& [name, value] : identity)
    if (!machine.is_object() || machine.value(name, nlohmann::json()) != value)
      return fmt::format("it was measured on another machine or with another library: {} is not {}", name,
                         value);
  return "it was measured on another machine";
}

}  // namespace

std::optional<MeasuredCosts> MeasuredCosts::from_json(std::string_view text, const MachineIdentity& identity,
                                                      std::string* reason) {
  std::string ignored;
  std::string& why = reason != nullptr ? *reason : ignored;
  const auto root = nlohmann::json::parse(text, nullptr, false);
  why = refusal(root, identity);
  if (!why.empty()) return std::nullopt;
  why = "it is damaged";
  MeasuredCosts costs;
  const auto overhead = overhead_of(root);
  const auto run = number(root, "run_overhead", true), deviation = number(root, "deviation", true);
  const auto list = root.find("costs");
  if (!overhead || !run || !deviation || list == root.end() || !list->is_array()) return std::nullopt;
  costs.overhead = *overhead;
  costs.run_overhead = *run;
  costs.deviation = *deviation;
  for (const auto& entry : *list) {
    if (!entry.is_object()) return std::nullopt;
    const auto seconds = number(entry, "seconds", false), error = number(entry, "relative_error", true),
               samples = number(entry, "samples", false);
    const auto codelet = entry.find("codelet"), signature = entry.find("signature");
    if (!seconds || !error || !samples || *samples > 1e15 || codelet == entry.end() ||
        !codelet->is_string() || signature == entry.end() || !signature->is_string())
      return std::nullopt;
    costs.costs_[{codelet->get<std::string>(), signature->get<std::string>()}] = {
        *seconds, *error, static_cast<std::uint64_t>(*samples)};
  }
  why.clear();
  return costs;
}

std::filesystem::path cost_file(const MachineIdentity& identity) {
  return std::filesystem::path(cache_folder()) / "costs" / (key_of(identity) + ".json");
}

MeasuredCosts load_costs(const MachineIdentity& identity, std::string* reason) {
  const auto file = cost_file(identity);
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return {};
  std::string why;
  try {
    if (auto costs = MeasuredCosts::from_json(read_file(file), identity, &why)) return *std::move(costs);
  } catch (const InputError& e) {
    why = e.what();
  }
  if (reason != nullptr) *reason = fmt::format("costs in {} are not used: {}", file.string(), why);
  return {};
}

bool save_costs(const MeasuredCosts& costs, const MachineIdentity& identity) {
  try {
    const auto file = cost_file(identity);
    std::filesystem::create_directories(file.parent_path());
    MeasuredCosts all = load_costs(identity);
    all.merge(costs);
    write_file(file, all.to_json(identity));
    return true;
  } catch (const std::exception&) {
    return false;  // costs are measured again next time
  }
}

}  // namespace espalier
