#pragma once

#include <string>
#include <vector>

#include "runtime/perfmodel/cost_table.hpp"
#include "runtime/platform/platform.hpp"

namespace espalier {

/// Model parallelism by layers: the network's layers are cut into contiguous stages, one for each accelerator
/// (each worker where there is none), in proportion to the devices' speeds on the whole network; all tasks of
/// a layer, of every micro-batch and direction, must run on its stage's device. What belongs to no layer (a
/// loss) goes with the last stage. Workers get kinds of their own and classes a stage, so that every
/// scheduler, bound and engine sees the restriction as tasks that cannot run elsewhere.
///
/// Replaces graph, platform and costs. InputError when the graph has no layers, or a device cannot run a task
/// of its stage.
void place_by_layers(TaskGraph& graph, Platform& platform, CostTable& costs);

}  // namespace espalier
