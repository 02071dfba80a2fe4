#include "runtime/simgrid/starpu_order.hpp"

#include <algorithm>
#include <fmt/format.h>

#include "graphs/base/error.hpp"

namespace espalier::simgrid {
namespace {

constexpr MemoryId kNoNode = ~MemoryId{0};

/// GPUs in the order of their memories, one worker each.
void number_workers(const Platform& p, StarpuOrder& order) {
  std::vector<WorkerId> gpus, cpus;
  std::vector<char> taken(p.memories.size(), 0);
  for (WorkerId w = 0; w < p.workers.size(); ++w) {
    const Worker& worker = p.workers[w];
    if (worker.memory == 0) {
      cpus.push_back(w);
      continue;
    }
    if (p.kind_of(w).type == DeviceType::cpu)
      throw InputError(
          fmt::format("platform {}: CPU worker {} is on memory {}, others on {}: StarPU's simulation knows "
                      "one main memory",
                      p.name, worker.name, p.memories[worker.memory].name, p.memories[0].name));
    if (taken[worker.memory] != 0)
      throw InputError(
          fmt::format("platform {}: memory {} has more than one worker; in StarPU's simulation a "
                      "GPU's memory has one",
                      p.name, p.memories[worker.memory].name));
    taken[worker.memory] = 1;
    gpus.push_back(w);
  }
  order.gpus = static_cast<unsigned>(gpus.size());
  order.cpus = static_cast<unsigned>(cpus.size());
  order.worker_of = std::move(gpus);
  order.worker_of.insert(order.worker_of.end(), cpus.begin(), cpus.end());
  order.number_of.resize(p.workers.size());
  for (WorkerId i = 0; i < order.worker_of.size(); ++i) order.number_of[order.worker_of[i]] = i;
}

void number_memories(const Platform& p, StarpuOrder& order) {
  order.memory_of = {0};
  for (unsigned g = 0; g < order.gpus; ++g) order.memory_of.push_back(p.workers[order.worker_of[g]].memory);
  order.node_of.assign(p.memories.size(), kNoNode);
  for (MemoryId n = 0; n < order.memory_of.size(); ++n) order.node_of[order.memory_of[n]] = n;
}

}  // namespace

StarpuOrder starpu_order(const Platform& p) {
  StarpuOrder order;
  number_workers(p, order);
  number_memories(p, order);
  Platform& out = order.platform;
  out.name = p.name;
  out.kinds = p.kinds;
  out.links = p.links;
  out.serial_peer_copies = p.serial_peer_copies;
  for (const MemoryId m : order.memory_of) out.memories.push_back(p.memories[m]);
  for (const WorkerId w : order.worker_of) {
    Worker worker = p.workers[w];
    worker.memory = order.node_of[worker.memory];
    out.workers.push_back(worker);
  }
  for (MemoryId i = 0; i < order.memory_of.size(); ++i)
    for (MemoryId j = 0; j < order.memory_of.size(); ++j) {
      if (i == j || !p.has_route(order.memory_of[i], order.memory_of[j])) continue;
      const auto route = p.route(order.memory_of[i], order.memory_of[j]);
      out.set_route(i, j, {route.begin(), route.end()});
    }
  return order;
}

void renumber_homes(std::vector<MemoryId>& homes, const StarpuOrder& order, const Platform& platform) {
  for (MemoryId& home : homes) {
    if (home >= order.node_of.size() || order.node_of[home] == kNoNode)
      throw InputError(
          fmt::format("platform {}: data are at home in memory {}, which has no worker: StarPU's "
                      "simulation has no such memory",
                      platform.name, home < platform.memories.size() ? platform.memories[home].name : "?"));
    home = order.node_of[home];
  }
}

Plan renumbered(Plan plan, const StarpuOrder& order) {
  for (Placement& p : plan.placements)
    if (p.worker < order.number_of.size()) p.worker = order.number_of[p.worker];
  return plan;
}

}  // namespace espalier::simgrid
