#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "graphs/base/units.hpp"
#include "runtime/task_graph/task_graph.hpp"

/// A machine: workers of several kinds, memories, links and the routes between memories.
namespace espalier {

using WorkerId = std::uint16_t;
using KindId = std::uint16_t;
using LinkId = std::uint16_t;
constexpr WorkerId kNoWorker = ~WorkerId{0};

enum class DeviceType : std::uint8_t { cpu, cuda, other };

struct DeviceKind {
  std::string name;  ///< "cpu-core", "v100", ...; key of measured costs
  DeviceType type = DeviceType::cpu;
  double peak_flops = 0;        ///< fp32 flop/s of one worker; 0: unknown
  double memory_bandwidth = 0;  ///< byte/s of one worker; 0: unknown
  Seconds task_overhead;        ///< runtime's cost of one task
  /// Whose fitted costs are this kind's, "NV_V100/fp32"; empty: told by the name.
  std::string costs = {};
  bool costs_scaled = false;  ///< by the ratio of the kinds' peaks: an extrapolation
};

struct Worker {
  std::string name;
  KindId kind;
  MemoryId memory;
};

struct Memory {
  std::string name;
  Bytes capacity{std::numeric_limits<std::int64_t>::max()};
};

/// One direction of a connection. Transfers that cross it at the same time share its bandwidth (max-min
/// fair), unless it is not shared (each transfer has the whole: identical:P, a crossbar).
struct Link {
  std::string name;
  double bandwidth;  ///< byte/s
  Seconds latency;
  bool shared = true;
};

class Platform {
 public:
  std::string name;
  std::vector<DeviceKind> kinds;
  std::vector<Memory> memories;  ///< 0 is the host's main memory
  std::vector<Worker> workers;
  std::vector<Link> links;
  /// A copy between two GPUs waits for other copies into either of them, and they for it: one copy engine
  /// takes in what comes, as CUDA was observed to do over PCIe (StarPU, src/core/simgrid.c). False: copies of
  /// unlike pairs move at the same time.
  bool serial_peer_copies = false;
  /// On SimGrid, StarPU's costs of submitting, queueing and allocating are part of the machine: it was sampled
  /// with StarPU, and its kinds have no task overhead of their own.
  bool starpu_costs = false;

  void set_route(MemoryId from, MemoryId to, std::vector<LinkId> route);
  /// Links crossed from one memory to another; empty for from == to. InputError when there is no route.
  std::span<const LinkId> route(MemoryId from, MemoryId to) const;
  bool has_route(MemoryId from, MemoryId to) const;
  /// Latency of the route plus size over its narrowest link, without contention. 0 for from == to.
  Seconds transfer_time(Bytes size, MemoryId from, MemoryId to) const;
  const DeviceKind& kind_of(WorkerId w) const { return kinds[workers[w].kind]; }
  std::uint64_t fingerprint() const;
  /// Every reference in range, every worker's memory reachable from memory 0. InputError naming what is not.
  void validate() const;

 private:
  struct Route {
    bool exists = false;
    std::vector<LinkId> links;
    double bandwidth = 0;
    Seconds latency;
  };
  std::vector<Route> routes_;  ///< memories x memories
};

}  // namespace espalier
