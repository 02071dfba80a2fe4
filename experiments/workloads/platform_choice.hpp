#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "runtime/sampling/sampled_machine.hpp"

/// The one place that tells what the command line's PLATFORM is.
namespace espalier {

struct PlatformChoice {
  Platform platform;
  /// A calibrated machine of a StarPU sampling directory: it brings costs.
  std::optional<sampling::SampledMachine> sampled;
};

/// As platform_named(), or a machine of a sampling directory: its name (mirage), "DIR:HOST" or
/// "starpu:DIR/HOST". InputError listing what is accepted.
PlatformChoice choose_platform(const std::string& text, bool unit_less);

/// Whether the text can only be a platform: a name, an ending, a prefix, a sampling directory.
bool looks_like_platform(const std::string& text);

/// Sampling directories that are searched for names: STARPU_PERF_MODEL_DIR and STARPU_PERF_MODEL_PATH, those
/// of the StarPU flavours in the cache, the system's and ~/.starpu/sampling.
std::vector<std::filesystem::path> sampling_folders();

struct ShippedMachine {
  std::string name;
  std::filesystem::path folder;
};
/// Machines in these, each name once, the first folder winning.
std::vector<ShippedMachine> shipped_machines();

}  // namespace espalier
