#include "experiments/workloads/platform_choice.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>

#include "experiments/doctor/doctor.hpp"
#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"

namespace espalier {
namespace {

namespace fs = std::filesystem;

struct Place {
  fs::path folder;
  std::string host;
};

/// "DIR:HOST" where DIR is a folder, "starpu:DIR/HOST".
std::optional<Place> explicit_place(const std::string& text) {
  constexpr std::string_view prefix = "starpu:";
  std::error_code error;
  if (text.starts_with(prefix)) {
    const fs::path path = text.substr(prefix.size());
    return Place{path.parent_path(), path.filename().string()};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) return std::nullopt;
  const fs::path folder = text.substr(0, colon);
  if (fs::is_directory(folder, error)) return Place{folder, text.substr(colon + 1)};
  if (text.find('/') != std::string::npos)
    throw InputError(fmt::format("platform {}: the folder {} does not exist", text, folder.string()));
  return std::nullopt;
}

std::string names_of(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& n : names) out += fmt::format("{}{}", out.empty() ? "" : ", ", n);
  return out.empty() ? "none" : out;
}

sampling::SampledMachine read_place(const std::string& text, const Place& place) {
  if (!fs::is_directory(place.folder / "bus"))
    throw InputError(fmt::format("platform {}: {} is no StarPU sampling directory: it has no folder bus",
                                 text, place.folder.string()));
  const auto there = sampling::machines_in(place.folder);
  if (std::find(there.begin(), there.end(), place.host) == there.end())
    throw InputError(fmt::format("platform {}: {} has no bus/{}.platform.v4.xml; machines with one: {}", text,
                                 place.folder.string(), place.host, names_of(there)));
  return sampling::read_sampled_machine(place.folder, place.host);
}

void add_folder(std::vector<fs::path>& out, const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder / "bus", error) && std::find(out.begin(), out.end(), folder) == out.end())
    out.push_back(folder);
}

PlatformChoice from_machine(sampling::SampledMachine machine) {
  PlatformChoice choice;
  choice.platform = machine.platform;
  choice.sampled = std::move(machine);
  return choice;
}

}  // namespace

std::vector<fs::path> sampling_folders() {
  std::vector<fs::path> out;
  for (const char* name : {"STARPU_PERF_MODEL_DIR", "STARPU_PERF_MODEL_PATH"}) {
    const char* value = std::getenv(name);
    const std::string text = value != nullptr ? value : "";
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(':', at), text.size());
      add_folder(out, text.substr(at, end - at));
      at = end + 1;
    }
  }
  constexpr const char* kShared = "share/starpu/perfmodels/sampling";
  std::vector<fs::path> flavours;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(cache_folder()) / "starpu", error))
    flavours.push_back(entry.path());
  std::sort(flavours.rbegin(), flavours.rend());
  for (const fs::path& f : flavours) add_folder(out, f / kShared);
  add_folder(out, fs::path("/usr/local") / kShared);
  add_folder(out, fs::path("/usr") / kShared);
  if (const char* home = std::getenv("HOME"); home != nullptr)
    add_folder(out, fs::path(home) / ".starpu/sampling");
  return out;
}

std::vector<ShippedMachine> shipped_machines() {
  std::vector<ShippedMachine> out;
  for (const fs::path& folder : sampling_folders())
    for (const std::string& name : sampling::machines_in(folder))
      if (std::none_of(out.begin(), out.end(), [&](const auto& m) { return m.name == name; }))
        out.push_back({name, folder});
  return out;
}

PlatformChoice choose_platform(const std::string& text, bool unit_less) {
  if (const auto place = explicit_place(text)) return from_machine(read_place(text, *place));
  if (!is_platform_name(text))
    for (const ShippedMachine& m : shipped_machines())
      if (m.name == text) return from_machine(sampling::read_sampled_machine(m.folder, m.name));
  try {
    return {platform_named(text, unit_less), std::nullopt};
  } catch (const InputError& e) {
    if (is_platform_name(text)) throw;
    std::vector<std::string> names;
    for (const ShippedMachine& m : shipped_machines()) names.push_back(m.name);
    throw InputError(
        fmt::format("{}, or a calibrated StarPU machine: DIR:HOST, or one of those that come with StarPU's "
                    "flavours (here: {})",
                    e.what(), names_of(names)));
  }
}

bool looks_like_platform(const std::string& text) {
  if (is_platform_name(text) || text.starts_with("starpu:")) return true;
  const std::size_t colon = text.rfind(':');
  std::error_code error;
  if (colon != std::string::npos && fs::is_directory(fs::path(text.substr(0, colon)) / "bus", error))
    return true;
  const auto machines = shipped_machines();
  return std::any_of(machines.begin(), machines.end(), [&](const auto& m) { return m.name == text; });
}

}  // namespace espalier
