#pragma once

#include <string>
#include <vector>

namespace espalier {

/// One library or tool: what was found and how to get it.
struct Component {
  std::string name;
  std::string version;  ///< empty: not found
  std::string purpose;
  std::string cure;  ///< the command that brings it, where it is missing
  bool required = true;
};

struct StarpuFlavour {
  std::string name;  ///< "simgrid", "native", "cuda"
  std::string folder;
  std::string version;
};

struct Diagnosis {
  std::vector<Component> components;
  std::vector<StarpuFlavour> flavours;  ///< built into the cache
  int machine_cores = 0;
  int starpu_cores = 0;         ///< CPU workers that the linked StarPU can serve
  std::string instruction_set;  ///< best one that oneDNN uses here
  long long memory_bytes = 0;
  std::vector<std::string> advice;  ///< what limits this installation, each with the command that mends it
};
Diagnosis diagnose();

/// Folder of what is built and measured once: ESPALIER_CACHE, else XDG_CACHE_HOME/espalier, else
/// ~/.cache/espalier.
std::string cache_folder();

/// Runs the build script of a StarPU flavour with its progress on the terminal; returns the script's exit
/// code. InputError when the flavour is unknown or the script is not installed.
int build_flavour(const std::string& flavour);

}  // namespace espalier
