#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "runtime/starpu/machine.hpp"

namespace espalier::starpu {

/// The time of a task on a CPU worker, for StarPU's performance models.
struct HistoryTime {
  std::string codelet;          ///< of the task graph's class; the model is "espalier_CODELET"
  std::uint64_t footprint = 0;  ///< of the class
  double seconds = 0;
};

/// Enters times into StarPU's history models as often as it asks for before it calls an entry calibrated, so
/// that dm, dmda, ... need no calibration of their own. StarPU writes the models into its sampling folder
/// when the machine is destroyed. What it knew already stays where it is within 10 % or rests on many more
/// measurements.
void give_history(Machine& machine, std::span<const HistoryTime> times);

/// What StarPU's history model expects of a task on a CPU worker, from this process's runs and earlier ones';
/// nullopt when it has no calibrated entry.
std::optional<double> history_seconds(Machine& machine, const std::string& codelet, std::uint64_t footprint);

}  // namespace espalier::starpu
