#include <fmt/format.h>
#include <hwloc.h>
#include <memory>

#include "graphs/base/error.hpp"
#include "runtime/platform/platform_source.hpp"
#include "runtime/platform/topology.hpp"

namespace espalier {
namespace {

// Rough until measured costs replace them: one AVX2 core at 2.5 GHz, a memory channel shared by two cores.
constexpr double kCoreFlops = 80e9, kCoreBandwidth = 8e9;
// PCIe 3.0 x16 and a GPU of that time.
constexpr double kGpuFlops = 10e12, kGpuBandwidth = 600e9, kPcieBandwidth = 12e9;
constexpr std::int64_t kGpuMemory = std::int64_t{16} << 30;

struct TopologyDeleter {
  void operator()(hwloc_topology_t t) const { hwloc_topology_destroy(t); }
};

/// Number of cores whose threads this process may use, as each gets one worker.
unsigned usable_cores(hwloc_topology_t topology) {
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> allowed(hwloc_bitmap_alloc(),
                                                                              hwloc_bitmap_free);
  if (allowed && hwloc_get_cpubind(topology, allowed.get(), HWLOC_CPUBIND_PROCESS) != 0)
    hwloc_bitmap_fill(allowed.get());
  unsigned cores = 0;
  const int n = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
  for (int i = 0; i < n; ++i) {
    const hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(i));
    if (!allowed || hwloc_bitmap_intersects(core->cpuset, allowed.get()) != 0) ++cores;
  }
  return cores == 0 ? 1 : cores;
}

}  // namespace

Platform local_platform() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw DeviceError("hwloc: the topology cannot be set up");
  const std::unique_ptr<hwloc_topology, TopologyDeleter> topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  if (hwloc_topology_load(raw) != 0) throw DeviceError("hwloc: the topology of this machine cannot be read");

  Topology machine;
  const auto ram = static_cast<std::int64_t>(hwloc_get_root_obj(raw)->total_memory);
  const auto main = machine.add_memory("main", ram > 0 ? Bytes(ram) : Memory{}.capacity);
  DeviceKind core{"cpu-core", DeviceType::cpu, kCoreFlops, kCoreBandwidth, Seconds(0)};
  const KindId core_kind = machine.add_kind(core);
  const unsigned cores = usable_cores(raw);
  for (unsigned i = 0; i < cores; ++i) machine.add_worker(fmt::format("cpu{}", i), core_kind, main);

  int gpus = 0;
  for (hwloc_obj_t os = hwloc_get_next_osdev(raw, nullptr); os != nullptr;
       os = hwloc_get_next_osdev(raw, os)) {
    const std::string name = os->name != nullptr ? os->name : "";
    if (os->attr->osdev.type != HWLOC_OBJ_OSDEV_COPROC || !name.starts_with("cuda")) continue;
    const char* kilobytes = hwloc_obj_get_info_by_name(os, "CUDAGlobalMemorySize");
    const std::int64_t size = kilobytes != nullptr ? std::strtoll(kilobytes, nullptr, 10) * 1024 : kGpuMemory;
    const char* model = hwloc_obj_get_info_by_name(os, "GPUModel");
    const KindId kind = machine.add_kind(
        {model != nullptr ? model : "gpu", DeviceType::cuda, kGpuFlops, kGpuBandwidth, Seconds(0)});
    const auto memory = machine.add_memory(fmt::format("gpu{}", gpus), Bytes(size > 0 ? size : kGpuMemory));
    machine.add_worker(fmt::format("gpu{}", gpus++), kind, memory);
    machine.connect({main, memory, kPcieBandwidth, Seconds(10e-6)});
  }
  return machine.finish("local");
}

}  // namespace espalier
