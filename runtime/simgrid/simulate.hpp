#pragma once

#include <filesystem>
#include <functional>

#include "graphs/base/error.hpp"
#include "runtime/simgrid/job.hpp"
#include "runtime/simgrid/sampling_writer.hpp"

/// The engine simgrid: StarPU itself, on a machine that SimGrid simulates, in a child process.
namespace espalier::simgrid {

struct SimulateOptions {
  std::filesystem::path program;  ///< espalier-simgrid; empty: found by find_program()
  double timeout = 0;             ///< seconds of wall time; 0: by the number of tasks
  const Bus* bus = nullptr;       ///< measured matrices of the platform, in StarPU's order
  /// Asked while the child runs, first before the files for it are written; true: it is ended, and simulate()
  /// throws Stopped.
  std::function<bool()> stop;
};

/// SimulateOptions::stop said so.
class Stopped : public DeviceError {
 public:
  using DeviceError::DeviceError;
};

struct Simulated {
  Trace trace;
  std::string starpu_version;
};

/// Runs the problem under the decision; workers and memories of the result are the platform's. InputError
/// when the flavour is not there (saying how to build it) or cannot express the platform; DeviceError when
/// the child takes too long, crashes or is stopped, with its last words.
Simulated simulate(const SchedulingProblem& problem, const Decision& decision,
                   const SimulateOptions& options = {});

/// espalier-simgrid: ESPALIER_SIMGRID, or beside this program, or one folder above. InputError saying how to
/// build it.
std::filesystem::path find_program();

}  // namespace espalier::simgrid
