#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>

#include "experiments/report/report.hpp"

namespace espalier {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out + "\"";
}

/// Bytes of the data that `from` writes and `to` reads.
std::int64_t bytes_between(const TaskGraph& graph, TaskId from, TaskId to) {
  std::int64_t bytes = 0;
  for (const Access& out : graph.accesses(from)) {
    if (!writes(out.mode)) continue;
    for (const Access& in : graph.accesses(to))
      if (in.data == out.data && reads(in.mode)) bytes += graph.data(in.data).size.value;
  }
  return bytes;
}

}  // namespace

std::string to_dot(const TaskGraph& graph, const CostTable& costs) {
  std::string out = fmt::format("digraph {} {{\n  node [shape=box];\n", quoted(graph.name));
  for (TaskId t = 0; t < graph.task_count(); ++t) {
    double least = std::numeric_limits<double>::infinity();
    for (KindId k = 0; k < costs.kinds(); ++k)
      least = std::min(least, costs.seconds(graph.task(t).cost_class, k));
    fmt::format_to(std::back_inserter(out), "  t{} [label={}, codelet={}, weight={}];\n", t,
                   quoted(fmt::format("{}: {}", graph.task_name(t), show_time(least, graph.unit_less))),
                   quoted(graph.class_of(t).codelet), least);
  }
  for (TaskId t = 0; t < graph.task_count(); ++t)
    for (const TaskId p : graph.predecessors(t)) {
      const std::int64_t bytes = bytes_between(graph, p, t);
      if (bytes > 0)
        fmt::format_to(std::back_inserter(out), "  t{} -> t{} [bytes={}];\n", p, t, bytes);
      else
        fmt::format_to(std::back_inserter(out), "  t{} -> t{} [style=dashed];\n", p, t);
    }
  return out + "}\n";
}

}  // namespace espalier
