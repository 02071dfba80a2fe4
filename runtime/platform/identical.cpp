#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"

namespace espalier {
namespace {

constexpr std::size_t kMostProcessors = 1024;
constexpr double kBytesPerSecond = 12e9;   // PCIe 3.0 x16
constexpr double kBytesPerTimeUnit = 1e6;  // kBytesPerUnit of the task graph's sources

}  // namespace

Platform identical_platform(std::size_t processors, bool unit_less) {
  if (processors < 1 || processors > kMostProcessors)
    throw InputError(
        fmt::format("identical:{}: the number of processors must be 1 .. {}", processors, kMostProcessors));
  Platform p;
  p.name = fmt::format("identical:{}", processors);
  DeviceKind kind;
  kind.name = "processor";
  kind.type = DeviceType::other;
  p.kinds.push_back(kind);
  p.links.push_back({"crossbar", unit_less ? kBytesPerTimeUnit : kBytesPerSecond, Seconds(0), false});
  for (std::size_t i = 0; i < processors; ++i) {
    p.memories.push_back({.name = fmt::format("memory{}", i)});
    p.workers.push_back({fmt::format("processor{}", i), 0, static_cast<MemoryId>(i)});
  }
  for (MemoryId a = 0; a < processors; ++a)
    for (MemoryId b = 0; b < processors; ++b)
      if (a != b) p.set_route(a, b, {0});
  return p;
}

}  // namespace espalier
