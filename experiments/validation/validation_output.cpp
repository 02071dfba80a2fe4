#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/validation/validation.hpp"

namespace espalier {
namespace {

using nlohmann::ordered_json;

std::string percent(double share) {
  return fmt::format("{:+.1f}", 100 * share);
}

const EngineResult* result_of(const ScheduleValidation& s, const std::string& engine) {
  for (const EngineResult& e : s.engines)
    if (e.engine == engine) return &e;
  return nullptr;
}

std::string table(const GraphValidation& g) {
  std::string out = fmt::format("  {:<34}{:>12}{:>18}", "scheduler", "measured ms", "95 % interval");
  for (const auto& o : g.orders) out += fmt::format("{:>12}{:>9}", o.engine + " ms", "error %");
  out += fmt::format("{:>13}\n", "own times %");
  for (const ScheduleValidation& s : g.schedules) {
    out += fmt::format("  {:<34}{:>12.3f}{:>18}", s.scheduler, s.median * 1e3,
                       fmt::format("{:.2f}..{:.2f}", s.low * 1e3, s.high * 1e3));
    for (const auto& o : g.orders) {
      const EngineResult* e = result_of(s, o.engine);
      out += e == nullptr ? fmt::format("{:>12}{:>9}", "-", "-")
                          : fmt::format("{:>12.3f}{:>9}", e->makespan * 1e3, percent(e->error));
    }
    out += fmt::format("{:>13}", s.own_times_makespan > 0 ? percent(s.own_times_error) : "-");
    if (s.disturbed > 0) out += fmt::format(" ({} of {} runs disturbed)", s.disturbed, s.seconds.size());
    out += "\n";
  }
  return out;
}

/// Where the engines' time and the real one differ most: a line for each schedule and engine.
std::string differences(const GraphValidation& g) {
  std::string out;
  for (const ScheduleValidation& s : g.schedules)
    for (const EngineResult& e : s.engines)
      if (const std::string largest = e.difference.largest(); !largest.empty())
        out += fmt::format("  {:<34}{:<9}{}\n", s.scheduler, e.engine, largest);
  return out.empty() ? out : "  largest difference from the real run, over all workers:\n" + out;
}

ordered_json to_json(const TraceDifference& d) {
  ordered_json j;
  auto& kinds = j["kinds"] = ordered_json::array();
  for (const KindDifference& k : d.kinds)
    kinds.push_back(
        {{"codelet", k.codelet}, {"tasks", k.tasks}, {"simulated", k.simulated}, {"real", k.real}});
  for (std::size_t c = 0; c < kLostCauses; ++c) {
    const std::string key(key_of(static_cast<LostCause>(c)));
    j["lost"][key] = {{"simulated", d.simulated_lost[c]}, {"real", d.real_lost[c]}};
  }
  j["largest"] = d.largest();
  return j;
}

ordered_json to_json(const ScheduleValidation& s) {
  ordered_json j;
  j["scheduler"] = s.scheduler;
  j["measured"] = {{"median", s.median},   {"low", s.low},           {"high", s.high},
                   {"seconds", s.seconds}, {"repeated", s.repeated}, {"disturbed", s.disturbed}};
  auto& engines = j["engines"] = ordered_json::object();
  for (const EngineResult& e : s.engines)
    engines[e.engine] = {{"makespan", e.makespan}, {"error", e.error}, {"difference", to_json(e.difference)}};
  if (s.own_times_makespan > 0)
    j["with_own_task_times"] = {{"makespan", s.own_times_makespan}, {"error", s.own_times_error}};
  return j;
}

ordered_json to_json(const GraphValidation& g) {
  ordered_json j;
  j["graph"] = g.graph;
  j["batch"] = g.batch;
  j["micro_batch"] = g.micro_batch;
  j["tasks"] = g.tasks;
  j["workers"] = g.workers;
  j["calibration"] = {{"runs", g.calibration_runs},
                      {"disturbed", g.calibration_disturbed},
                      {"relative_error", g.calibration_error},
                      {"task_overhead", g.task_overhead},
                      {"run_overhead", g.run_overhead},
                      {"deviation", g.deviation}};
  auto& list = j["schedulers"] = ordered_json::array();
  for (const ScheduleValidation& s : g.schedules) list.push_back(to_json(s));
  for (const auto& o : g.orders)
    j["order"][o.engine] = {
        {"kendall_tau", o.agreement.tau},        {"kendall_tau_told_apart", o.agreement.tau_told_apart},
        {"pairs_told_apart", o.agreement.pairs}, {"discordant", o.agreement.discordant},
        {"median_error", o.median_error},        {"largest_error", o.largest_error}};
  if (const auto& b = g.between)
    j["between_engines"] = {{"first", b->first},
                            {"second", b->second},
                            {"schedules", b->schedules},
                            {"median_apart", b->median_apart},
                            {"largest_apart", b->largest_apart},
                            {"kendall_tau", b->tau}};
  return j;
}

}  // namespace

std::string validation_to_text(const Validation& v) {
  std::string out;
  for (const GraphValidation& g : v.graphs) {
    out += fmt::format("{}, batch {} in micro-batches of {}: {} tasks on {} workers\n", g.graph, g.batch,
                       g.micro_batch, g.tasks, g.workers);
    out += fmt::format(
        "calibrated in {} runs between the measured ones: sum within {:.2f} %, {:.1f} us a task "
        "beyond its kernel, {:.0f} us a run, times within a run vary by {:.1f} %\n",
        g.calibration_runs, 100 * g.calibration_error, 1e6 * g.task_overhead, 1e6 * g.run_overhead,
        100 * g.deviation);
    out += table(g);
    for (const auto& o : g.orders)
      out += fmt::format(
          "  {}: median error {:.1f} %, largest {:.1f} %; Kendall's tau {:.2f}, {:.2f} over the {} pairs "
          "that "
          "the measurements tell apart\n",
          o.engine, 100 * o.median_error, 100 * o.largest_error, o.agreement.tau, o.agreement.tau_told_apart,
          o.agreement.pairs);
    if (const auto& b = g.between)
      out += fmt::format(
          "  {} against {}: apart by {:.1f} % in the median, {:.1f} % at most, order kept with a "
          "Kendall's tau of {:.2f}\n",
          b->second, b->first, 100 * b->median_apart, 100 * b->largest_apart, b->tau);
    out += differences(g);
    out += "\n";
  }
  for (const auto& t : v.totals)
    out += fmt::format("{}: median error {:.1f} % over {} schedules\n", t.engine, 100 * t.median_error,
                       t.schedules);
  return out;
}

std::string validation_to_json(const Validation& v, const ValidationRequest& request) {
  ordered_json j;
  auto& graphs = j["graphs"] = ordered_json::array();
  for (const GraphValidation& g : v.graphs) graphs.push_back(to_json(g));
  for (const auto& t : v.totals)
    j["total"][t.engine] = {{"median_error", t.median_error}, {"schedules", t.schedules}};
  j["reproduce"] = {
      {"version", "0.1.0"},         {"graphs", request.graphs},   {"schedulers", request.schedulers},
      {"engines", request.engines}, {"batch", request.run.batch}, {"iterations", request.run.iterations},
      {"rounds", request.blocks},   {"seed", request.run.seed}};
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace espalier
