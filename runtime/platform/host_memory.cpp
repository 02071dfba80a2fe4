#include "runtime/platform/host_memory.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <sstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <utility>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

std::int64_t read_number(const char* path) {
  std::ifstream file(path);
  std::int64_t value = kUnknown;
  if (file && !(file >> value)) value = kUnknown;  // "max"
  return value;
}

/// Value in bytes of a line "KEY: n kB" of a file below /proc.
std::int64_t from_proc(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.rfind(key, 0) != 0) continue;
    std::istringstream words(line.substr(key.size()));
    std::int64_t kilobytes = 0;
    if (words >> kilobytes) return kilobytes * 1024;
  }
  return kUnknown;
}

}  // namespace

HostMemory::HostMemory(std::int64_t bytes) : bytes_(std::max<std::int64_t>(bytes, 64)) {
  void* p = ::mmap(nullptr, static_cast<std::size_t>(bytes_), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    throw DeviceError(fmt::format("{} of memory are refused by the system", size_text(bytes_)));
  static_cast<void>(::madvise(p, static_cast<std::size_t>(bytes_), MADV_HUGEPAGE));
  data_ = static_cast<std::byte*>(p);
}

HostMemory::~HostMemory() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::int64_t available_memory() {
  std::int64_t available = from_proc("/proc/meminfo", "MemAvailable:");
  constexpr std::array<std::pair<const char*, const char*>, 2> groups{
      {{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
       {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}}};
  for (const auto& [limit_path, usage_path] : groups) {
    const std::int64_t limit = read_number(limit_path), usage = read_number(usage_path);
    if (limit != kUnknown && usage != kUnknown)
      available = std::min(available, std::max<std::int64_t>(0, limit - usage));
  }
  struct rlimit space {};
  if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
    available = std::min(available, static_cast<std::int64_t>(space.rlim_cur));
  return available;
}

std::int64_t peak_memory() {
  // ru_maxrss starts from what the parent process held at the fork; VmHWM is this program's own
  if (const std::int64_t peak = from_proc("/proc/self/status", "VmHWM:"); peak != kUnknown) return peak;
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;
}

std::string size_text(std::int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b >= 1e9) return fmt::format("{:.1f} GB", b / 1e9);
  if (b >= 1e6) return fmt::format("{:.1f} MB", b / 1e6);
  return fmt::format("{:.1f} kB", b / 1e3);
}

void require_memory(std::int64_t bytes, const std::string& what) {
  const std::int64_t available = available_memory();
  if (bytes > available)
    throw InputError(
        fmt::format("{} needs {} of memory, {} are available", what, size_text(bytes), size_text(available)));
}

}  // namespace espalier
