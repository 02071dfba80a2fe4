#include "runtime/simgrid/job.hpp"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "graphs/base/error.hpp"

namespace espalier::simgrid {
namespace {

using nlohmann::json;

constexpr const char* kJob = "espalier-simgrid-job";
constexpr int kVersion = 1;
constexpr std::uint64_t kMostIds = 0xfffffffe;

std::string_view name_of(Decision::Kind kind) {
  return kind == Decision::Kind::starpu ? "starpu" : kind == Decision::Kind::online ? "online" : "plan";
}

json finite_or_null(double value) {
  return std::isfinite(value) ? json(value) : json(nullptr);
}

json graph_to_json(const TaskGraph& g, const std::vector<MemoryId>& homes) {
  json classes = json::array(), data = json::array(), tasks = json::array();
  for (const CostClassInfo& c : g.classes)
    classes.push_back({c.codelet, c.signature, c.flops.value, c.bytes.value, c.footprint});
  for (DataId d = 0; d < g.data_count(); ++d)
    data.push_back({g.data(d).size.value, homes[d], g.data(d).is_result});
  for (TaskId t = 0; t < g.task_count(); ++t) {
    const Task& task = g.task(t);
    json accesses = json::array();
    for (const Access& a : g.accesses(t)) {
      accesses.push_back(a.data);
      accesses.push_back(static_cast<int>(a.mode));
    }
    json before = json::array();
    for (const TaskId p : g.predecessors(t)) before.push_back(p);
    tasks.push_back(
        {task.cost_class, task.priority, task.micro_batch, std::move(accesses), std::move(before)});
  }
  return {{"name", g.name},     {"samples", g.samples}, {"unit_less", g.unit_less},
          {"classes", classes}, {"data", data},         {"tasks", tasks}};
}

json platform_to_json(const Platform& p) {
  json kinds = json::array(), memories = json::array(), workers = json::array(), links = json::array(),
       routes = json::array();
  for (const DeviceKind& k : p.kinds)
    kinds.push_back(
        {k.name, static_cast<int>(k.type), k.peak_flops, k.memory_bandwidth, k.task_overhead.value});
  for (const Memory& m : p.memories) memories.push_back({m.name, m.capacity.value});
  for (const Worker& w : p.workers) workers.push_back({w.name, w.kind, w.memory});
  for (const Link& l : p.links) links.push_back({l.name, l.bandwidth, l.latency.value, l.shared});
  for (MemoryId i = 0; i < p.memories.size(); ++i)
    for (MemoryId j = 0; j < p.memories.size(); ++j)
      if (i != j && p.has_route(i, j)) {
        const auto route = p.route(i, j);
        routes.push_back({i, j, std::vector<LinkId>(route.begin(), route.end())});
      }
  return {{"name", p.name},     {"kinds", kinds}, {"memories", memories},
          {"workers", workers}, {"links", links}, {"routes", routes}};
}

/// Reads with checks: the text may be anything.
class Reader {
 public:
  explicit Reader(const std::string& name) : name_(name) {}

  Job read(const json& root) const {
    if (!root.is_object() || !root.contains("format") || root["format"] != kJob) fail("this is no job");
    if (whole(at(root, "version"), 1'000'000) != kVersion) fail("another version of the format");
    Job job;
    read_platform(at(root, "platform"), job.platform);
    job.cpus = static_cast<unsigned>(whole(at(root, "cpus"), 65535));
    job.gpus = static_cast<unsigned>(whole(at(root, "gpus"), 65535));
    if (job.cpus + job.gpus != job.platform.workers.size() || job.gpus + 1 != job.platform.memories.size())
      fail("workers and memories do not agree with cpus and gpus");
    read_graph(at(root, "graph"), job);
    read_costs(at(root, "costs"), job);
    job.seed = whole(at(root, "seed"), ~std::uint64_t{0});
    job.time_limit = number(at(root, "time_limit"));
    read_decision(at(root, "decision"), job);
    return job;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError(fmt::format("{}: {}", name_, what));
  }
  const json& at(const json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) fail(fmt::format("\"{}\" is missing", key));
    return object[key];
  }
  const json& list(const json& value, std::size_t size = 0) const {
    if (!value.is_array() || (size != 0 && value.size() != size)) fail("a list was expected");
    return value;
  }
  std::uint64_t whole(const json& value, std::uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) fail("a whole number was expected");
    return value.get<std::uint64_t>();
  }
  std::int32_t small(const json& value) const {
    if (!value.is_number_integer() || value.get<std::int64_t>() < INT32_MIN ||
        value.get<std::int64_t>() > INT32_MAX)
      fail("a whole number was expected");
    return value.get<std::int32_t>();
  }
  double number(const json& value) const {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0)
      fail("a number of at least 0 was expected");
    return value.get<double>();
  }
  std::int64_t bytes(const json& value) const {
    return static_cast<std::int64_t>(whole(value, std::numeric_limits<std::int64_t>::max()));
  }
  std::string text(const json& value) const {
    if (!value.is_string()) fail("a text was expected");
    return value.get<std::string>();
  }
  bool yes(const json& value) const {
    if (!value.is_boolean()) fail("true or false was expected");
    return value.get<bool>();
  }

  void read_platform(const json& in, Platform& p) const {
    p.name = text(at(in, "name"));
    for (const json& k : list(at(in, "kinds"))) {
      list(k, 5);
      p.kinds.push_back({text(k[0]), static_cast<DeviceType>(whole(k[1], 2)), number(k[2]), number(k[3]),
                         Seconds(number(k[4]))});
    }
    for (const json& m : list(at(in, "memories"))) {
      list(m, 2);
      p.memories.push_back({text(m[0]), Bytes(bytes(m[1]))});
    }
    if (p.memories.empty() || p.memories.size() > 1024 || p.kinds.empty() || p.kinds.size() > 65535)
      fail("the number of memories or kinds");
    for (const json& w : list(at(in, "workers"))) {
      list(w, 3);
      p.workers.push_back({text(w[0]), static_cast<KindId>(whole(w[1], p.kinds.size() - 1)),
                           static_cast<MemoryId>(whole(w[2], p.memories.size() - 1))});
    }
    if (p.workers.empty() || p.workers.size() > 65534) fail("the number of workers");
    for (const json& l : list(at(in, "links"))) {
      list(l, 4);
      p.links.push_back({text(l[0]), number(l[1]), Seconds(number(l[2])), yes(l[3])});
      if (!(p.links.back().bandwidth > 0)) fail("a link without bandwidth");
    }
    for (const json& r : list(at(in, "routes"))) {
      list(r, 3);
      std::vector<LinkId> route;
      for (const json& l : list(r[2])) {
        if (p.links.empty()) fail("a route over no link");
        route.push_back(static_cast<LinkId>(whole(l, std::min<std::size_t>(p.links.size(), 65536) - 1)));
      }
      p.set_route(static_cast<MemoryId>(whole(r[0], p.memories.size() - 1)),
                  static_cast<MemoryId>(whole(r[1], p.memories.size() - 1)), std::move(route));
    }
  }

  void read_graph(const json& in, Job& job) const {
    TaskGraphBuilder builder;
    TaskGraph& g = builder.graph();
    g.name = text(at(in, "name"));
    g.samples = number(at(in, "samples"));
    g.unit_less = yes(at(in, "unit_less"));
    for (const json& c : list(at(in, "classes"))) {
      list(c, 5);
      const CostClass before = static_cast<CostClass>(g.classes.size());
      if (builder.add_class({text(c[0]), text(c[1]), Flops(number(c[2])), Bytes(bytes(c[3])),
                             whole(c[4], ~std::uint64_t{0})}) != before)
        fail("two classes are the same");
    }
    for (const json& d : list(at(in, "data"))) {
      list(d, 3);
      builder.add_data({Bytes(bytes(d[0])),
                        static_cast<MemoryId>(whole(d[1], job.platform.memories.size() - 1)), yes(d[2])});
    }
    const json& tasks = list(at(in, "tasks"));
    if (g.classes.empty() && !tasks.empty()) fail("tasks without classes");
    if (tasks.size() > kMostIds || g.data_count() > kMostIds) fail("too many tasks or data");
    for (TaskId t = 0; t < tasks.size(); ++t) read_task(tasks[t], t, builder);
    job.graph = builder.build();
  }

  void read_task(const json& in, TaskId t, TaskGraphBuilder& builder) const {
    list(in, 5);
    const TaskGraph& g = builder.graph();
    Task task;
    task.cost_class = static_cast<CostClass>(whole(in[0], g.classes.size() - 1));
    task.priority = small(in[1]);
    task.micro_batch = small(in[2]);
    const json& pairs = list(in[3]);
    if (pairs.size() % 2 != 0) fail("accesses are pairs");
    std::vector<Access> accesses;
    for (std::size_t i = 0; i < pairs.size(); i += 2) {
      const auto mode = whole(pairs[i + 1], 3);
      const auto datum = whole(pairs[i], kMostIds);
      if (mode == 0 || datum >= g.data_count()) fail("an access out of range");
      accesses.push_back({static_cast<DataId>(datum), static_cast<AccessMode>(mode)});
    }
    builder.add_task(task, accesses);
    for (const json& p : list(in[4])) {
      const auto before = whole(p, kMostIds);
      if (before >= t) fail("a task depends on a later one");
      builder.add_dependency(static_cast<TaskId>(before), t);
    }
  }

  void read_costs(const json& in, Job& job) const {
    const std::size_t classes = job.graph.classes.size(), kinds = job.platform.kinds.size();
    job.costs = CostTable(classes, kinds);
    const json& seconds = list(at(in, "seconds"), classes);
    const json& footprints = list(at(in, "footprints"), classes);
    for (CostClass c = 0; c < classes; ++c) {
      list(seconds[c], kinds);
      for (KindId k = 0; k < kinds; ++k)
        if (!seconds[c][k].is_null()) job.costs.set(c, k, Seconds(number(seconds[c][k])), CostSource::given);
      job.footprints.push_back(static_cast<std::uint32_t>(whole(footprints[c], 0xffffffff)));
    }
    job.costs.require_runnable(job.graph, job.platform);
  }

  void read_decision(const json& in, Job& job) const {
    Decision& d = job.decision;
    const std::string kind = text(at(in, "kind"));
    d.name = text(at(in, "name"));
    d.mode = text(at(in, "mode"));
    if (kind != "starpu" && kind != "online" && kind != "plan") fail("decision: unknown kind " + kind);
    d.kind = kind == "starpu"   ? Decision::Kind::starpu
             : kind == "online" ? Decision::Kind::online
                                : Decision::Kind::plan;
    for (const json& p : list(at(in, "placements"))) {
      list(p, 4);
      d.placements.push_back({static_cast<WorkerId>(whole(p[0], job.platform.workers.size() - 1)),
                              static_cast<std::uint32_t>(whole(p[1], kMostIds)), number(p[2]), number(p[3])});
    }
    for (const json& t : list(at(in, "critical"))) {
      if (job.graph.task_count() == 0) fail("a critical task of an empty graph");
      d.critical.push_back(static_cast<TaskId>(whole(t, job.graph.task_count() - 1)));
    }
    if (d.kind == Decision::Kind::plan && d.placements.size() != job.graph.task_count())
      fail("the plan does not place every task");
  }

  const std::string& name_;
};

}  // namespace

std::string job_to_json(const SchedulingProblem& problem, const std::vector<MemoryId>& homes,
                        const Job& rest) {
  const TaskGraph& g = problem.graph;
  json seconds = json::array(), placements = json::array();
  for (CostClass c = 0; c < g.classes.size(); ++c) {
    json row = json::array();
    for (KindId k = 0; k < problem.costs.kinds(); ++k)
      row.push_back(finite_or_null(problem.costs.seconds(c, k)));
    seconds.push_back(std::move(row));
  }
  for (const Placement& p : rest.decision.placements)
    placements.push_back({p.worker, p.position, p.start, p.finish});
  const json out = {{"format", kJob},
                    {"version", kVersion},
                    {"graph", graph_to_json(g, homes)},
                    {"platform", platform_to_json(problem.platform)},
                    {"costs", {{"seconds", seconds}, {"footprints", rest.footprints}}},
                    {"cpus", rest.cpus},
                    {"gpus", rest.gpus},
                    {"seed", problem.seed},
                    {"time_limit", problem.time_limit.value},
                    {"decision",
                     {{"kind", name_of(rest.decision.kind)},
                      {"name", rest.decision.name},
                      {"mode", rest.decision.mode},
                      {"placements", placements},
                      {"critical", rest.decision.critical}}}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Job job_from_json(std::string_view text, const std::string& name) {
  const json root = json::parse(text, nullptr, false);
  return Reader(name).read(root);
}

std::vector<std::uint32_t> model_footprints(const TaskGraph& graph) {
  std::set<std::pair<std::string, std::uint32_t>> taken;
  std::vector<std::uint32_t> out;
  for (const CostClassInfo& c : graph.classes) {
    auto key = static_cast<std::uint32_t>(c.footprint ^ (c.footprint >> 32));
    while (!taken.insert({c.codelet, key}).second) ++key;
    out.push_back(key);
  }
  return out;
}

}  // namespace espalier::simgrid
