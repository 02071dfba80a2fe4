#include "tests/support/scheduling_cases.hpp"

#include <fmt/format.h>
#include <random>

#include "runtime/platform/platform_source.hpp"
#include "runtime/task_graph/sources/source.hpp"

namespace espalier::test {
namespace {

/// One memory for each worker, a link of one byte a second for each ordered pair.
Platform crossbar(std::size_t workers, bool unrelated) {
  Platform platform;
  platform.name = fmt::format("crossbar of {}", workers);
  for (std::size_t w = 0; w < workers; ++w) {
    if (unrelated || w == 0)
      platform.kinds.push_back({fmt::format("kind {}", w), DeviceType::other, 0, 0, {}});
    platform.memories.emplace_back().name = fmt::format("memory {}", w);
    platform.workers.push_back(
        {fmt::format("worker {}", w), static_cast<KindId>(unrelated ? w : 0), static_cast<MemoryId>(w)});
  }
  platform.links.push_back({"crossbar", 1, Seconds(0), false});
  for (std::size_t a = 0; a < workers; ++a)
    for (std::size_t b = 0; b < workers; ++b)
      if (a != b) platform.set_route(static_cast<MemoryId>(a), static_cast<MemoryId>(b), {0});
  return platform;
}

TaskGraph weighted_graph(std::size_t tasks, const std::vector<WeightedEdge>& edges,
                         const std::vector<std::string>& signatures) {
  TaskGraphBuilder builder;
  builder.graph().unit_less = true;
  std::vector<std::vector<Access>> accesses(tasks);
  std::vector<CostClass> classes;
  for (std::size_t t = 0; t < tasks; ++t)
    classes.push_back(builder.add_class({"task", signatures[t], Flops(0), Bytes(0), 0}));
  for (const WeightedEdge& e : edges) {
    if (e.bytes > 0) {
      const DataId d = builder.add_data({Bytes(e.bytes), 0, false});
      accesses[e.from].push_back({d, AccessMode::write});
      accesses[e.to].push_back({d, AccessMode::read});
    }
    builder.add_dependency(e.from, e.to);
  }
  for (std::size_t t = 0; t < tasks; ++t) builder.add_task({classes[t]}, accesses[t]);
  return builder.build();
}

}  // namespace

ProblemCase named_case(const std::string& graph, const std::string& machine) {
  LoadedTaskGraph loaded = load_task_graph(graph);
  ProblemCase c;
  c.platform = platform_named(machine, loaded.graph.unit_less);
  c.graph = std::move(loaded.graph);
  const RooflineModel roofline;
  std::vector<const CostModel*> models;
  if (loaded.given) models.push_back(loaded.given.get());
  models.push_back(&roofline);
  c.costs = make_cost_table(c.graph, c.platform, models);
  return c;
}

ProblemCase unrelated_case(const std::vector<std::vector<double>>& times,
                           const std::vector<WeightedEdge>& edges) {
  std::vector<std::string> signatures;
  for (std::size_t t = 0; t < times.size(); ++t) signatures.push_back(fmt::format("{}", t));
  ProblemCase result{weighted_graph(times.size(), edges, signatures), crossbar(times[0].size(), true), {}};
  result.costs = CostTable(result.graph.classes.size(), times[0].size());
  for (std::size_t t = 0; t < times.size(); ++t)
    for (std::size_t w = 0; w < times[t].size(); ++w)
      result.costs.set(static_cast<CostClass>(t), static_cast<KindId>(w), Seconds(times[t][w]),
                       CostSource::given);
  return result;
}

ProblemCase identical_case(const std::vector<double>& times, const std::vector<WeightedEdge>& edges,
                           std::size_t workers) {
  std::vector<std::string> signatures;
  for (const double time : times) signatures.push_back(fmt::format("{}", time));
  ProblemCase result{weighted_graph(times.size(), edges, signatures), crossbar(workers, false), {}};
  result.costs = CostTable(result.graph.classes.size(), 1);
  for (CostClass c = 0; c < result.graph.classes.size(); ++c)
    result.costs.set(c, 0, Seconds(std::stod(result.graph.classes[c].signature)), CostSource::given);
  return result;
}

ProblemCase random_case(std::size_t tasks, std::size_t workers, double edge_probability,
                        std::int64_t largest_bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto up_to = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % (n + 1)); };
  std::vector<std::vector<double>> times(tasks, std::vector<double>(workers));
  for (auto& row : times)
    for (double& time : row) time = static_cast<double>(1 + up_to(19));
  std::vector<WeightedEdge> edges;
  for (TaskId to = 0; to < tasks; ++to)
    for (TaskId from = 0; from < to; ++from)
      if (static_cast<double>(random() % 1000000) < edge_probability * 1000000)
        edges.push_back({from, to, up_to(largest_bytes)});
  return unrelated_case(times, edges);
}

ProblemCase topcuoglu_case() {
  return unrelated_case({{14, 16, 9},
                         {13, 19, 18},
                         {11, 13, 19},
                         {13, 8, 17},
                         {12, 13, 10},
                         {13, 16, 9},
                         {7, 15, 11},
                         {5, 11, 14},
                         {18, 12, 20},
                         {21, 7, 16}},
                        {{0, 1, 18},
                         {0, 2, 12},
                         {0, 3, 9},
                         {0, 4, 11},
                         {0, 5, 14},
                         {1, 7, 19},
                         {1, 8, 16},
                         {2, 6, 23},
                         {3, 7, 27},
                         {3, 8, 23},
                         {4, 8, 13},
                         {5, 7, 15},
                         {6, 9, 17},
                         {7, 9, 11},
                         {8, 9, 13}});
}

ProblemCase arabnejad_case() {
  return unrelated_case({{22, 21, 36},
                         {22, 18, 18},
                         {32, 27, 43},
                         {7, 10, 4},
                         {29, 27, 35},
                         {26, 17, 24},
                         {14, 25, 30},
                         {29, 23, 36},
                         {15, 21, 8},
                         {13, 16, 33}},
                        {{0, 1, 17},
                         {0, 2, 31},
                         {0, 3, 29},
                         {0, 4, 13},
                         {0, 5, 7},
                         {1, 7, 3},
                         {1, 8, 30},
                         {2, 6, 16},
                         {3, 7, 11},
                         {3, 8, 7},
                         {4, 8, 57},
                         {5, 7, 5},
                         {6, 9, 9},
                         {7, 9, 42},
                         {8, 9, 7}});
}

}  // namespace espalier::test
