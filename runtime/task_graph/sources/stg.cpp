#include <fmt/format.h>

#include "runtime/task_graph/sources/text.hpp"
#include "runtime/task_graph/sources/weighted_dag.hpp"

/// Standard Task Graph files: the number of tasks, then a row for each task with its number, its time, how
/// many predecessors it has and which; with communication, a weight behind each predecessor. The entry and
/// the exit task of weight 0 are not counted by the first line of the set's own files.
namespace espalier {
namespace {

constexpr std::size_t kMostTasks = 20'000'000;

void read_row(const std::vector<std::string_view>& fields, const std::string& name, std::size_t line,
              source::WeightedDag& dag) {
  using source::fail;
  if (fields.size() < 3)
    fail(name, line, "a row needs a task's number, its time, its number of predecessors and these");
  const std::size_t id = source::count(fields[0], name, line, "task number", kMostTasks);
  if (id != dag.weights.size())
    fail(name, line, fmt::format("task {} where task {} was expected", id, dag.weights.size()));
  dag.weights.push_back(source::number(fields[1], name, line, "processing time"));
  dag.names.push_back(std::string(fields[0]));
  const std::size_t n = source::count(fields[2], name, line, "number of predecessors", kMostTasks);
  const std::size_t rest = fields.size() - 3;
  if (rest != n && rest != 2 * n)
    fail(name, line,
         fmt::format("task {} says {} predecessors, but {} numbers follow (accepted: {} task numbers, or "
                     "as many pairs of a task number and a communication time)",
                     id, n, rest, n));
  const std::size_t step = n != 0 && rest == 2 * n ? 2 : 1;
  for (std::size_t i = 0; i < rest; i += step) {
    const std::size_t p = source::count(fields[3 + i], name, line, "predecessor", kMostTasks);
    dag.edges.emplace_back(static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(id));
    dag.edge_weights.push_back(step == 2 ? source::number(fields[4 + i], name, line, "communication time")
                                         : 0);
  }
}

}  // namespace

LoadedTaskGraph read_stg(std::string_view text, const std::string& name) {
  source::WeightedDag dag;
  dag.name = name;
  std::size_t expected = 0;
  bool have_count = false;
  std::size_t line = 0;
  std::vector<std::size_t> line_of_edge;
  for (std::string_view row : source::lines_of(text)) {
    ++line;
    const auto fields = source::fields_of(row.substr(0, row.find('#')));
    if (fields.empty()) continue;
    if (!have_count) {
      if (fields.size() != 1)
        source::fail(name, line, "the first row of an .stg file is the number of tasks, alone");
      expected = source::count(fields[0], name, line, "number of tasks", kMostTasks);
      have_count = true;
      continue;
    }
    read_row(fields, name, line, dag);
    line_of_edge.resize(dag.edges.size(), line);
  }
  if (!have_count)
    source::fail(name, line + 1, "the file is empty; an .stg file starts with the number of tasks");
  const std::size_t found = dag.weights.size();
  if (found == 0) source::fail(name, line + 1, "the file has no task");
  if (found != expected && found != expected + 2)
    source::fail(
        name, line,
        fmt::format("the first row says {} tasks, so {} rows, or {} with the dummy entry and exit, were "
                    "expected; the file has {} (is it cut off?)",
                    expected, expected, expected + 2, found));
  for (std::size_t e = 0; e < dag.edges.size(); ++e)
    if (dag.edges[e].first >= found)
      source::fail(
          name, line_of_edge[e],
          fmt::format("predecessor {} does not exist: the tasks are 0 .. {}", dag.edges[e].first, found - 1));
  return source::to_task_graph(dag);
}

}  // namespace espalier
