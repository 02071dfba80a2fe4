#pragma once

#include <string>

#include "runtime/trace/trace.hpp"

namespace espalier {

/// The trace in the Trace Event Format that Perfetto and chrome://tracing open: a row for each worker, for
/// each pair of memories that data moved between, and a curve for each memory. Times in microseconds of the
/// run (of a unit-less graph: 1 unit is shown as 1 s).
std::string to_chrome_trace(const Trace& trace, const TaskGraph& graph, const Platform& platform);

}  // namespace espalier
