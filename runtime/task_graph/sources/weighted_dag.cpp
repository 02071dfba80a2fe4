#include "runtime/task_graph/sources/weighted_dag.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <queue>

#include "graphs/base/error.hpp"

namespace espalier::source {
namespace {

/// Walks back among the vertices that never became free until one repeats.
std::string describe_cycle(const std::vector<Edge>& edges, const std::vector<std::uint32_t>& missing,
                           const std::vector<std::string>& names) {
  std::vector<std::uint32_t> before(missing.size(), kNoTask);
  for (const auto& [a, b] : edges)
    if (missing[a] != 0 && missing[b] != 0) before[b] = a;
  std::uint32_t v = 0;
  while (before[v] == kNoTask) ++v;
  std::vector<char> seen(missing.size(), 0);
  for (; seen[v] == 0; v = before[v]) seen[v] = 1;
  std::vector<std::uint32_t> cycle{v};
  for (std::uint32_t u = before[v]; u != v; u = before[u]) cycle.push_back(u);
  std::reverse(cycle.begin(), cycle.end());
  std::rotate(cycle.begin(), std::min_element(cycle.begin(), cycle.end()), cycle.end());
  std::string text;
  const std::size_t shown = std::min<std::size_t>(cycle.size(), 12);
  for (std::size_t i = 0; i < shown; ++i) text += names[cycle[i]] + " -> ";
  if (shown < cycle.size()) text += fmt::format("... ({} more) -> ", cycle.size() - shown);
  return text + names[cycle[0]];
}

}  // namespace

std::vector<std::uint32_t> topological_order(std::size_t n, const std::vector<Edge>& edges,
                                             const std::vector<std::string>& names,
                                             const std::string& graph_name) {
  std::vector<std::uint32_t> missing(n, 0), begin(n + 1, 0), targets(edges.size());
  for (const auto& [a, b] : edges) {
    ++missing[b];
    ++begin[a + 1];
  }
  for (std::size_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
  for (const auto& [a, b] : edges) targets[next[a]++] = b;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
  for (std::uint32_t v = 0; v < n; ++v)
    if (missing[v] == 0) free.push(v);
  std::vector<std::uint32_t> order;
  order.reserve(n);
  while (!free.empty()) {
    const std::uint32_t v = free.top();
    free.pop();
    order.push_back(v);
    for (std::uint32_t i = begin[v]; i < begin[v + 1]; ++i)
      if (--missing[targets[i]] == 0) free.push(targets[i]);
  }
  if (order.size() < n)
    throw InputError(
        fmt::format("{}: the graph has a cycle: {}", graph_name, describe_cycle(edges, missing, names)));
  return order;
}

LoadedTaskGraph to_task_graph(const WeightedDag& dag) {
  const std::size_t n = dag.weights.size();
  const auto order = topological_order(n, dag.edges, dag.names, dag.name);
  TaskGraphBuilder builder;
  builder.graph().name = dag.name;
  builder.graph().unit_less = true;
  auto given = std::make_shared<GivenCosts>();

  std::vector<std::vector<Access>> accesses(n);
  std::vector<std::uint32_t> position(n);
  for (std::uint32_t i = 0; i < n; ++i) position[order[i]] = i;
  for (std::size_t e = 0; e < dag.edges.size(); ++e) {
    const auto [from, to] = dag.edges[e];
    const auto bytes = static_cast<std::int64_t>(std::llround(dag.edge_weights[e] * kBytesPerUnit));
    if (bytes > 0) {
      const DataId d = builder.add_data({Bytes(bytes)});
      accesses[from].push_back({d, AccessMode::write});
      accesses[to].push_back({d, AccessMode::read});
    } else {
      builder.add_dependency(position[from], position[to]);
    }
  }
  for (const std::uint32_t v : order) {
    const CostClass c = builder.add_class({"task", fmt::format("{}", dag.weights[v]), Flops(0), Bytes(0), 0});
    given->set(builder.graph().classes[c], {dag.weights[v], dag.weights[v]});
    builder.add_task({.cost_class = c}, accesses[v], dag.names[v]);
  }
  return {builder.build(), given};
}

}  // namespace espalier::source
