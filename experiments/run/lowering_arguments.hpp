#pragma once

#include <CLI/CLI.hpp>

#include "experiments/run/run_network.hpp"

namespace espalier {

/// Options that settle how a network is lowered for a real run: run, plan --for-run, simulate --for-run and
/// calibrate have them in common, so that they speak of the same task graph.
struct LoweringArguments {
  std::string weights, micro_batch = "auto";
  std::vector<std::string> dims;
  unsigned cores = 0;
  double task_ms = 0;  ///< 0: chosen
  bool bf16 = false;

  void add_to(CLI::App& command);
  bool operator==(const LoweringArguments&) const = default;
  /// InputError for a malformed --dim or --micro-batch.
  void apply(RunRequest& request) const;
};

}  // namespace espalier
