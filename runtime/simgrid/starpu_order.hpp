#pragma once

#include <vector>

#include "runtime/plan/plan.hpp"

namespace espalier::simgrid {

/// A platform as StarPU numbers it: workers on GPUs first, then those on cores; memory 0 is main memory, then
/// one for each GPU. A worker with a memory of its own becomes a CUDA device, those on memory 0 become cores.
struct StarpuOrder {
  Platform platform;                ///< in StarPU's order
  std::vector<WorkerId> worker_of;  ///< by StarPU's number: the platform's
  std::vector<WorkerId> number_of;  ///< by the platform's worker: StarPU's
  std::vector<MemoryId> memory_of;  ///< by StarPU's node
  std::vector<MemoryId> node_of;    ///< by the platform's memory
  unsigned cpus = 0, gpus = 0;
};

/// InputError when StarPU's simulation cannot express the platform: CPU workers on several memories, several
/// workers on a GPU's memory.
StarpuOrder starpu_order(const Platform& platform);

/// The same graph with the data's homes by StarPU's numbers. InputError for a home that is none of its nodes.
void renumber_homes(std::vector<MemoryId>& homes, const StarpuOrder& order, const Platform& platform);
Plan renumbered(Plan plan, const StarpuOrder& order);

}  // namespace espalier::simgrid
