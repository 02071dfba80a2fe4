#include "runtime/plan/plan_json.hpp"

#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graphs/base/error.hpp"

namespace espalier {
namespace {

using nlohmann::ordered_json;

constexpr const char* kFormat = "espalier-plan";
constexpr int kVersion = 1;

std::string hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

class Reader {
 public:
  Reader(const std::string& name) : name_(name) {}

  PlanFile read(const ordered_json& root) const {
    if (!root.is_object()) fail("a plan is a JSON object");
    if (!root.contains("format") || root["format"] != kFormat)
      fail(fmt::format("\"format\" is not \"{}\": this is no plan of espalier plan", kFormat));
    const auto version = whole(need(root, "version"), "version", 1'000'000);
    if (version != kVersion) fail(fmt::format("version {} of the format; accepted is {}", version, kVersion));
    PlanFile file;
    Plan& plan = file.plan;
    plan.scheduler = text(need(root, "scheduler"), "scheduler");
    plan.seed = whole(need(root, "seed"), "seed", ~std::uint64_t{0});
    plan.makespan = number(need(root, "makespan"), "makespan");
    plan.lower_bound = root.contains("lower_bound") ? number(root["lower_bound"], "lower_bound") : 0;
    if (root.contains("proven_optimal")) {
      if (!root["proven_optimal"].is_boolean()) fail("proven_optimal: true or false was expected");
      plan.proven_optimal = root["proven_optimal"].get<bool>();
    }
    read_target(root, file);
    read_placements(need(root, "placements"), file);
    if (root.contains("transfers")) read_transfers(root["transfers"], file);
    return file;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw InputError(fmt::format("{}: {}", name_, message));
  }
  const ordered_json& need(const ordered_json& object, const char* key) const {
    if (!object.is_object() || !object.contains(key)) fail(fmt::format("\"{}\" is missing", key));
    return object[key];
  }
  double number(const ordered_json& value, const char* what) const {
    if (!value.is_number() || !std::isfinite(value.get<double>()) || value.get<double>() < 0)
      fail(fmt::format("{}: a number >= 0 was expected", what));
    return value.get<double>();
  }
  std::uint64_t whole(const ordered_json& value, const char* what, std::uint64_t most) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
      fail(fmt::format("{}: a whole number 0 .. {} was expected", what, most));
    return value.get<std::uint64_t>();
  }
  std::string text(const ordered_json& value, const char* what) const {
    if (!value.is_string()) fail(fmt::format("{}: a text was expected", what));
    return value.get<std::string>();
  }
  std::uint64_t fingerprint(const ordered_json& value) const {
    const std::string digits = text(value, "fingerprint");
    std::uint64_t out = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), out, 16);
    if (code != std::errc{} || end != digits.data() + digits.size())
      fail("fingerprint: 16 hexadecimal digits were expected");
    return out;
  }
  std::vector<std::string> names(const ordered_json& value, const char* what) const {
    if (!value.is_array()) fail(fmt::format("{}: a list of names was expected", what));
    std::vector<std::string> out;
    for (const auto& v : value) out.push_back(text(v, what));
    return out;
  }

  void read_target(const ordered_json& root, PlanFile& file) const {
    constexpr std::uint64_t most = 1'000'000'000;
    const ordered_json& graph = need(root, "graph");
    file.target.graph_name = text(need(graph, "name"), "graph.name");
    file.target.tasks = whole(need(graph, "tasks"), "graph.tasks", most);
    file.target.edges = whole(need(graph, "edges"), "graph.edges", most);
    file.target.data = whole(need(graph, "data"), "graph.data", most);
    file.plan.graph_fingerprint = fingerprint(need(graph, "fingerprint"));
    const ordered_json& platform = need(root, "platform");
    file.target.platform_name = text(need(platform, "name"), "platform.name");
    file.target.workers = names(need(platform, "workers"), "platform.workers");
    file.target.memories = names(need(platform, "memories"), "platform.memories");
    file.plan.platform_fingerprint = fingerprint(need(platform, "fingerprint"));
  }

  void read_placements(const ordered_json& placements, PlanFile& file) const {
    if (!placements.is_array())
      fail("placements: a list with [worker, position, start, finish] for each task was expected");
    if (placements.size() != file.target.tasks)
      fail(fmt::format("{} placements for {} tasks: the file is cut off or was changed", placements.size(),
                       file.target.tasks));
    file.plan.placements.reserve(placements.size());
    for (const auto& p : placements) {
      if (!p.is_array() || p.size() != 4)
        fail(fmt::format("placement of task {}: [worker, position, start, finish] was expected",
                         file.plan.placements.size()));
      Placement out;
      const auto workers = file.target.workers.size();
      out.worker =
          static_cast<WorkerId>(whole(p[0], "worker of a placement", workers == 0 ? 0 : workers - 1));
      out.position = static_cast<std::uint32_t>(whole(p[1], "position of a placement", placements.size()));
      out.start = number(p[2], "start of a placement");
      out.finish = number(p[3], "finish of a placement");
      file.plan.placements.push_back(out);
    }
  }

  void read_transfers(const ordered_json& transfers, PlanFile& file) const {
    if (!transfers.is_array()) fail("transfers: a list of [datum, after, from, to, start] was expected");
    const auto last = [](std::size_t count) { return count == 0 ? 0 : count - 1; };
    file.plan.transfers.reserve(transfers.size());
    for (const auto& x : transfers) {
      if (!x.is_array() || x.size() != 5)
        fail(fmt::format("transfer {}: [datum, after, from, to, start] was expected",
                         file.plan.transfers.size()));
      PlannedTransfer out;
      out.data = static_cast<DataId>(whole(x[0], "datum of a transfer", last(file.target.data)));
      if (x[1] != -1)
        out.after = static_cast<TaskId>(whole(x[1], "task before a transfer", last(file.target.tasks)));
      const std::uint64_t memories = last(file.target.memories.size());
      out.from = static_cast<MemoryId>(whole(x[2], "source of a transfer", memories));
      out.to = static_cast<MemoryId>(whole(x[3], "target of a transfer", memories));
      out.start = number(x[4], "start of a transfer");
      file.plan.transfers.push_back(out);
    }
  }

  const std::string& name_;
};

[[noreturn]] void differs(const std::string& name, const std::string& what) {
  throw InputError(fmt::format("{}: {}", name, what));
}

void require_names(const std::vector<std::string>& planned, const std::vector<std::string>& here,
                   const char* what, const std::string& name, const PlanTarget& target,
                   const std::string& platform) {
  if (planned.size() != here.size())
    differs(name, fmt::format("the plan is for another platform: {} has {} {}s, {} has {}",
                              target.platform_name, planned.size(), what, platform, here.size()));
  for (std::size_t i = 0; i < here.size(); ++i)
    if (planned[i] != here[i])
      differs(name, fmt::format("the plan is for another platform: {} {} of {} is {}, of {} it is {}", what,
                                i, target.platform_name, planned[i], platform, here[i]));
}

}  // namespace

std::string plan_to_json(const Plan& plan, const TaskGraph& graph, const Platform& platform) {
  ordered_json root;
  root["format"] = kFormat;
  root["version"] = kVersion;
  root["scheduler"] = plan.scheduler;
  root["seed"] = plan.seed;
  root["makespan"] = plan.makespan;
  root["lower_bound"] = plan.lower_bound;
  root["proven_optimal"] = plan.proven_optimal;
  root["graph"] = {{"name", graph.name},
                   {"tasks", graph.task_count()},
                   {"edges", graph.edge_count()},
                   {"data", graph.data_count()},
                   {"fingerprint", hex(graph.fingerprint())}};
  ordered_json workers = ordered_json::array(), memories = ordered_json::array();
  for (const Worker& w : platform.workers) workers.push_back(w.name);
  for (const Memory& m : platform.memories) memories.push_back(m.name);
  root["platform"] = {{"name", platform.name},
                      {"workers", std::move(workers)},
                      {"memories", std::move(memories)},
                      {"fingerprint", hex(platform.fingerprint())}};
  std::string text = root.dump(1, ' ', false, ordered_json::error_handler_t::replace);
  text.resize(text.rfind('}') - 1);  // a line for each placement, which dump() does not do
  text += ",\n \"placements\": [";
  for (std::size_t t = 0; t < plan.placements.size(); ++t) {
    const Placement& p = plan.placements[t];
    text += fmt::format("{}\n  [{},{},{},{}]", t == 0 ? "" : ",", p.worker, p.position, p.start, p.finish);
  }
  text += "\n ]";
  if (!plan.transfers.empty()) {
    text += ",\n \"transfers\": [";
    for (std::size_t i = 0; i < plan.transfers.size(); ++i) {
      const PlannedTransfer& x = plan.transfers[i];
      text +=
          fmt::format("{}\n  [{},{},{},{},{}]", i == 0 ? "" : ",", x.data,
                      x.after == kNoTask ? std::int64_t{-1} : std::int64_t{x.after}, x.from, x.to, x.start);
    }
    text += "\n ]";
  }
  text += "\n}\n";
  return text;
}

PlanFile plan_from_json(std::string_view text, const std::string& name) {
  try {
    return Reader(name).read(ordered_json::parse(text));
  } catch (const nlohmann::json::exception& e) {
    throw InputError(fmt::format("{}: not a JSON file: {}", name, e.what()));
  }
}

void require_target(const PlanFile& file, const TaskGraph& graph, const Platform& platform,
                    const std::string& name) {
  const PlanTarget& t = file.target;
  const auto counts = [&](const char* what, std::size_t planned, std::size_t here) {
    if (planned != here)
      differs(name, fmt::format("the plan is for another graph: {} has {} {}, {} has {}", t.graph_name,
                                planned, what, graph.name, here));
  };
  counts("tasks", t.tasks, graph.task_count());
  counts("dependencies", t.edges, graph.edge_count());
  counts("data", t.data, graph.data_count());
  if (file.plan.graph_fingerprint != graph.fingerprint())
    differs(name,
            fmt::format("the plan is for another graph: {} and {} have equally many tasks, dependencies and "
                        "data, but kinds of tasks, accesses or sizes differ",
                        t.graph_name, graph.name));
  std::vector<std::string> workers, memories;
  for (const Worker& w : platform.workers) workers.push_back(w.name);
  for (const Memory& m : platform.memories) memories.push_back(m.name);
  require_names(t.workers, workers, "worker", name, t, platform.name);
  require_names(t.memories, memories, "memory node", name, t, platform.name);
  if (file.plan.platform_fingerprint != platform.fingerprint())
    differs(
        name,
        fmt::format("the plan is for another platform: {} and {} have the same workers and memories by name, "
                    "but kinds, capacities or links differ",
                    t.platform_name, platform.name));
}

}  // namespace espalier
