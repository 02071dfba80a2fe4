#include "experiments/calibrate/machine_identity.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <oneapi/dnnl/dnnl.hpp>

#include "runtime/starpu/machine.hpp"
#include "runtime/starpu/starpu_info.hpp"

namespace espalier {
namespace {

/// "model name" of the first processor, as Linux tells it.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name") && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown";
}

/// Size and time of this program's file: another build has other kernels.
std::string own_build() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return "unknown";
  const auto size = std::filesystem::file_size(self, error);
  const auto time = std::filesystem::last_write_time(self, error);
  return error ? "unknown" : fmt::format("{}-{}", size, time.time_since_epoch().count());
}

}  // namespace

MachineIdentity machine_identity(unsigned workers, bool bf16) {
  const dnnl_version_t* dnnl = dnnl_version();
  return {{"processor", processor()},
          {"instruction_set", std::to_string(static_cast<int>(dnnl_get_effective_cpu_isa()))},
          {"cores", std::to_string(starpu::machine_cores())},
          {"workers", std::to_string(workers)},
          {"onednn", fmt::format("{}.{}.{}", dnnl->major, dnnl->minor, dnnl->patch)},
          {"starpu", starpu::starpu_info().version},
          {"espalier", "0.1.0"},
          {"build", own_build()},
          {"bf16", bf16 ? "yes" : "no"}};
}

std::string key_of(const MachineIdentity& identity) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const auto& [name, value] : identity)
    for (const char c : name + '=' + value + ';')
      hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace espalier
