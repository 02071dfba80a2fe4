#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "graphs/base/error.hpp"
#include "runtime/simgrid/job.hpp"

namespace espalier::simgrid {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "espalier-simgrid-outcome";

}  // namespace

std::string outcome_to_json(const Outcome& outcome) {
  const Trace& trace = outcome.trace;
  json tasks = json::array(), moved = json::array(), samples = json::array();
  for (const TaskEvent& e : trace.tasks)
    tasks.push_back({e.task, e.worker, e.start, e.end, e.ready, e.data_ready});
  for (const MovedBytes& m : trace.moved) moved.push_back({m.from, m.to, m.bytes, m.transfers});
  const json out = {{"format", kFormat},
                    {"error", outcome.error},
                    {"wrong_input", outcome.wrong_input},
                    {"starpu_version", outcome.starpu_version},
                    {"makespan", trace.makespan},
                    {"scheduler_seconds", trace.scheduler_seconds},
                    {"tasks", tasks},
                    {"moved", moved},
                    {"peak_memory", trace.peak_memory}};
  return out.dump(-1, ' ', false, json::error_handler_t::replace);
}

Outcome outcome_from_json(std::string_view text, const std::string& name) {
  try {
    const json in = json::parse(text);
    if (in.at("format") != kFormat) throw InternalError(fmt::format("{}: this is no outcome", name));
    Outcome out;
    out.error = in.at("error").get<std::string>();
    out.wrong_input = in.at("wrong_input").get<bool>();
    out.starpu_version = in.at("starpu_version").get<std::string>();
    out.trace.makespan = in.at("makespan").get<double>();
    out.trace.scheduler_seconds = in.at("scheduler_seconds").get<double>();
    for (const json& e : in.at("tasks")) {
      TaskEvent event{};
      event.task = e.at(0).get<TaskId>();
      event.worker = e.at(1).get<WorkerId>();
      event.start = e.at(2).get<double>();
      event.end = e.at(3).get<double>();
      event.ready = event.memory_ready = e.at(4).get<double>();
      event.data_ready = e.at(5).get<double>();
      out.trace.tasks.push_back(event);
    }
    for (const json& m : in.at("moved"))
      out.trace.moved.push_back({m.at(0).get<MemoryId>(), m.at(1).get<MemoryId>(), m.at(2).get<double>(),
                                 m.at(3).get<std::uint64_t>()});
    out.trace.peak_memory = in.at("peak_memory").get<std::vector<std::int64_t>>();
    return out;
  } catch (const json::exception& e) {
    throw InternalError(fmt::format("{}: {}", name, e.what()));
  }
}

}  // namespace espalier::simgrid
