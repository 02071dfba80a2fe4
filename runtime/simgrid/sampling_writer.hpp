#pragma once

#include <filesystem>
#include <string>

#include "runtime/plan/plan.hpp"
#include "runtime/sampling/bus_matrix.hpp"
#include "runtime/simgrid/starpu_order.hpp"

namespace espalier::simgrid {

/// Name of the machine in the directories that are written for a simulation.
inline constexpr const char* kHost = "espalier";

/// Symbol of a codelet's performance model.
std::string model_symbol(const std::string& codelet);

/// Whether the cores are of several kinds: StarPU then needs STARPU_PERF_MODEL_HOMOGENEOUS_CPU=0.
bool cores_differ(const StarpuOrder& order);

/// Matrices that StarPU's policies reckon with, where they were measured.
struct Bus {
  sampling::BusMatrix bandwidth, latency;
};

/// Writes below `folder` what StarPU-SimGrid reads of machine kHost: bus/ with the platform, the matrices and
/// the configuration; codelets/45/ with a performance model for each codelet, a task's time being its cost
/// and the kind's overhead. `footprints` by cost class. `bus` null: the matrices come from the routes.
/// InputError for costs that StarPU cannot express (0 or less).
void write_sampling(const std::filesystem::path& folder, const StarpuOrder& order, const TaskGraph& graph,
                    const CostTable& costs, const std::vector<std::uint32_t>& footprints, const Bus* bus);

}  // namespace espalier::simgrid
