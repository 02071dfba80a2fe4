#include "experiments/validation/engine_agreement.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "experiments/calibrate/median.hpp"

namespace espalier {
namespace {

using nlohmann::ordered_json;

EngineAgreement agreement_of(ComparisonCase&& c) {
  EngineAgreement a;
  a.graph = c.how.graph;
  a.platform = c.how.platform;
  a.mode = c.how.mode;
  a.batch = c.how.batch;
  a.micro_batches = c.how.micro_batches;
  a.tasks = c.loaded->workload.graph.task_count();
  a.workers = c.loaded->platform.workers.size();
  std::vector<double> apart, speeds;
  for (const EngineDifference& d : c.differences) {
    apart.push_back(std::abs(d.relative));
    if (d.seconds > 0 && d.reference_seconds > 0) speeds.push_back(d.seconds / d.reference_seconds);
  }
  a.median_apart = median_interval(apart).median;
  a.largest_apart = apart.empty() ? 0 : *std::max_element(apart.begin(), apart.end());
  a.speed = median_interval(std::move(speeds)).median;
  a.tau = engine_order_kept(c, "simgrid");
  a.schedules = std::move(c.differences);
  a.left_out = std::move(c.left_out);
  return a;
}

ordered_json known(double value) {
  return std::isnan(value) ? ordered_json() : ordered_json(value);
}

ordered_json to_json(const EngineDifference& d) {
  ordered_json made_of = {{"busy", d.busy}};
  for (std::size_t i = 0; i < kLostCauses; ++i)
    made_of[std::string(key_of(static_cast<LostCause>(i)))] = d.lost[i];
  return {{"scheduler", d.scheduler},
          {"model", d.reference_makespan},
          {"simgrid", d.makespan},
          {"difference", d.relative},
          {"made_of", std::move(made_of)},
          {"why", d.why},
          {"transfer_bytes", {{"model", d.reference_bytes}, {"simgrid", d.bytes}}},
          {"wall_seconds", {{"model", d.reference_seconds}, {"simgrid", d.seconds}}}};
}

}  // namespace

EngineAgreements compare_engines(ComparisonRequest request, const ComparisonWatcher& watcher) {
  request.engines = {"model", "simgrid"};
  request.savings = false;
  request.bars = 1;
  Comparison comparison = compare(request, watcher);
  EngineAgreements out;
  out.interrupted = comparison.interrupted;
  for (ComparisonCase& c : comparison.cases) out.cases.push_back(agreement_of(std::move(c)));
  return out;
}

std::string agreements_to_text(const EngineAgreements& agreements) {
  std::string out;
  for (const EngineAgreement& a : agreements.cases) {
    out += fmt::format(
        "{} on {}{}: {} tasks on {} workers\n", a.graph, a.platform,
        a.batch > 0 ? fmt::format(", batch {} as {} micro-batches", a.batch, a.micro_batches) : "", a.tasks,
        a.workers);
    out += fmt::format("  {:<26}{:>12}{:>12}{:>9}{:>11}  {}\n", "scheduler", "model ms", "simgrid ms",
                       "apart %", "times as", "made of");
    for (const EngineDifference& d : a.schedules)
      out += fmt::format("  {:<26}{:>12.3f}{:>12.3f}{:>+9.1f}{:>11.0f}  {}\n", d.scheduler,
                         d.reference_makespan * 1e3, d.makespan * 1e3, 100 * d.relative,
                         d.reference_seconds > 0 ? d.seconds / d.reference_seconds : 0, d.why);
    for (const LeftOut& l : a.left_out)
      out += fmt::format("  {} left out on {}: {}\n", l.scheduler, l.engine, l.reason);
    out += fmt::format(
        "  apart by {:.1f} % in the median, {:.1f} % at most; Kendall's tau {}; the model engine "
        "takes 1/{:.0f} of simgrid's wall time\n\n",
        100 * a.median_apart, 100 * a.largest_apart, std::isnan(a.tau) ? "-" : fmt::format("{:.2f}", a.tau),
        a.speed);
  }
  return out;
}

std::string agreements_to_json(const EngineAgreements& agreements, const ComparisonRequest& request) {
  ordered_json j;
  auto& cases = j["cases"] = ordered_json::array();
  for (const EngineAgreement& a : agreements.cases) {
    ordered_json schedules = ordered_json::array(), left_out = ordered_json::array();
    for (const EngineDifference& d : a.schedules) schedules.push_back(to_json(d));
    for (const LeftOut& l : a.left_out)
      left_out.push_back({{"scheduler", l.scheduler}, {"engine", l.engine}, {"reason", l.reason}});
    cases.push_back({{"graph", a.graph},
                     {"platform", a.platform},
                     {"mode", a.mode},
                     {"batch", a.batch},
                     {"micro_batches", a.micro_batches},
                     {"tasks", a.tasks},
                     {"workers", a.workers},
                     {"schedulers", std::move(schedules)},
                     {"left_out", std::move(left_out)},
                     {"median_apart", a.median_apart},
                     {"largest_apart", a.largest_apart},
                     {"kendall_tau", known(a.tau)},
                     {"speed", a.speed}});
  }
  j["reproduce"] = {{"version", "0.1.0"},
                    {"graphs", request.graphs},
                    {"platforms", request.platforms},
                    {"schedulers", request.schedulers},
                    {"seed", request.options.seed},
                    {"time_limit", request.options.time_limit}};
  return j.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace espalier
