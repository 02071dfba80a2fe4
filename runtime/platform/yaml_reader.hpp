#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/platform/topology.hpp"

namespace espalier {

/// A machine read from YAML (format in README.md).
struct MachineDescription {
  std::string name, summary;
  Topology topology;
};

/// `name` stands in front of errors; `load` gives the machines that the text includes by name. InputError
/// with file and line for what is malformed, unknown, doubled or without its unit.
MachineDescription read_machine(std::string_view yaml, const std::string& name,
                                const std::function<MachineDescription(const std::string&)>& load);

}  // namespace espalier
