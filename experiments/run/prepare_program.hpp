#pragma once

#include "experiments/run/run_network.hpp"

namespace espalier {

/// A network cut and lowered for this machine: what `run` executes and what `plan --for-run` plans for.
struct PreparedProgram {
  std::shared_ptr<const NetworkProgram> program;
  std::int64_t batch = 1, micro_batch = 1;
  std::uint32_t micro_batches = 1;
  unsigned workers = 1;
  std::string uncut_because;  ///< see MicroBatches
};

/// Workers that a run gets: `cores`, or all that the machine and StarPU have when it is 0.
unsigned workers_for(unsigned cores);

/// Equal requests give equal task graphs. InputError as run_network.
PreparedProgram prepare_program(const Graph& network, const LayerTable& layers, const RunRequest& request);

}  // namespace espalier
