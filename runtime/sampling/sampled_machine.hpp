#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/perfmodel/cost_table.hpp"
#include "runtime/platform/platform.hpp"
#include "runtime/sampling/bus_matrix.hpp"

namespace espalier::sampling {

/// A machine that somebody calibrated with StarPU: a sampling directory and the machine's name in it.
struct SampledMachine {
  std::filesystem::path folder;
  std::string host;
  /// Kinds "cpu", "cuda0", "cuda1", ...: GPUs are measured one by one. Each GPU takes a core, as StarPU does
  /// it: C cores and G GPUs give C - G workers on cores. 90 % of a GPU's memory can be used.
  Platform platform;
  BusMatrix bandwidth, latency;  ///< what StarPU's policies reckon with: RAM, then the GPUs
};

/// Reads bus/HOST.platform.v4.xml, .bandwidth and .latency. InputError naming the file that is missing, the
/// row that is nan, the route that is not there.
SampledMachine read_sampled_machine(const std::filesystem::path& folder, const std::string& host);

/// Machines that have a platform file below `folder`, by name.
std::vector<std::string> machines_in(const std::filesystem::path& folder);

/// Costs from the performance models codelets/45/CODELET.HOST, matched by the size of a task's data. Older
/// sets name the Cholesky kernels chol_model_11, _21 and _22, and have one model for syrk and gemm: the
/// update of a tile on the diagonal is half the work, so half the time (as newer sets have it).
class SampledCosts final : public CostModel {
 public:
  /// InputError when a class of tasks has no measurement on any device: names the codelet, its size, the
  /// machine, and the sizes that are there.
  SampledCosts(const SampledMachine& machine, const TaskGraph& graph);
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override;
  /// Devices that lack a codelet which others have, in words.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::string> kinds_;
  std::unordered_map<std::uint64_t, std::vector<std::optional<double>>> seconds_;  ///< footprint, kind
  std::vector<std::string> warnings_;
};

}  // namespace espalier::sampling
