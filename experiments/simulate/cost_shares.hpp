#pragma once

#include <nlohmann/json_fwd.hpp>

#include "experiments/simulate/simulation.hpp"

namespace espalier {

/// [{"source", "basis", "share", "median_error"}, ...], greatest share first; an error that is not known is
/// null.
nlohmann::ordered_json cost_shares_to_json(const SimulationSummary& summary);

}  // namespace espalier
