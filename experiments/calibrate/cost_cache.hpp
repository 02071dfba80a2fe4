#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "experiments/calibrate/machine_identity.hpp"
#include "runtime/perfmodel/cost_table.hpp"

namespace espalier {

/// One measured cost.
struct MeasuredCost {
  double seconds = 0;         ///< robust mean
  double relative_error = 0;  ///< half the width of the median's 95 % confidence interval, over the median
  std::uint64_t samples = 0;
};

/// What a task costs beyond its kernel.
struct MeasuredOverhead {
  double seconds = 0;
  std::uint64_t samples = 0;  ///< 0 for a program in which no task waits for a worker: it has no such cost
  bool measured = false;
};

/// Costs of one machine, by codelet and signature, and the cost of a task beyond its kernel. As a CostModel
/// it answers for CPU kinds with what it has.
class MeasuredCosts final : public CostModel {
 public:
  MeasuredOverhead overhead;
  double run_overhead = 0;  ///< seconds before a run's first tasks start and after its last one
  double deviation = 0;     ///< relative, of a task's time within one run

  void set(const CostClassInfo& what, const MeasuredCost& cost) {
    costs_[{what.codelet, what.signature}] = cost;
  }
  const MeasuredCost* find(const CostClassInfo& what) const;
  std::size_t size() const { return costs_.size(); }
  std::optional<Estimate> estimate(const CostClassInfo& what, const DeviceKind& kind) const override;
  /// Takes over what `other` has measured more recently.
  void merge(const MeasuredCosts& other);

  std::string to_json(const MachineIdentity& identity) const;
  /// nullopt for what is no such file, of another version, of another machine, or damaged: it is measured
  /// again, not trusted; `reason` says why.
  static std::optional<MeasuredCosts> from_json(std::string_view text, const MachineIdentity& identity,
                                                std::string* reason = nullptr);

 private:
  std::map<std::pair<std::string, std::string>, MeasuredCost> costs_;
};

/// The file of a machine's costs: cache_folder()/costs/KEY.json.
std::filesystem::path cost_file(const MachineIdentity& identity);
/// Nothing where there is no file. A file that cannot be trusted counts as none; `reason` names it and says
/// why.
MeasuredCosts load_costs(const MachineIdentity& identity, std::string* reason = nullptr);
/// Merges into the file; false when the folder cannot be written.
bool save_costs(const MeasuredCosts& costs, const MachineIdentity& identity);

}  // namespace espalier
