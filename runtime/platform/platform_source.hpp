#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runtime/platform/named.hpp"
#include "runtime/platform/platform.hpp"

/// Where platforms come from: YAML, a list of named ones, identical:P, this machine. README.md has the
/// format.
namespace espalier {

/// P processors of kind "processor" with a memory each; every pair is joined by a link of its own that moves
/// one unit of edge weight (kBytesPerUnit of the task graph's sources) in one unit of time, without latency
/// and without sharing. InputError unless 1 <= P <= 1024.
/// Graphs in seconds and bytes are given links of 12 GB/s instead (`unit_less` false).
Platform identical_platform(std::size_t processors, bool unit_less = true);

/// This machine as hwloc sees it: a worker of kind "cpu-core" for each core, one memory, and the GPUs that
/// hwloc finds with a memory each. Rates are rough estimates until measured costs replace them.
Platform local_platform();

/// A name of named_platforms(), "identical:P", "local" or the path of a YAML file (.yaml, .yml). InputError
/// listing what is accepted. `unit_less` is the graph's, which matters to identical:P only.
Platform platform_named(const std::string& text, bool unit_less = true);

/// Whether platform_named() is the one to ask: a known name, "local", identical:P, or a .yaml path.
bool is_platform_name(std::string_view text);

/// A platform from YAML; `name` stands in front of errors ("file.yaml:3: ...").
Platform read_platform(std::string_view yaml, const std::string& name);

/// The summary line of a named platform.
std::string platform_summary(const NamedPlatform& platform);

}  // namespace espalier
