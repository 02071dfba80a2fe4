#include "experiments/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "experiments/run/schedule_runs.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

using Progress = std::function<void(const std::string&)>;

/// What the engine says of one schedule, beside the run that took the median time.
EngineResult engine_result(const std::string& engine, const Contender& contender, const LocalProblem& local,
                           const MeasuredSchedule& measured, const std::atomic<bool>* interrupt) {
  EngineResult result;
  result.engine = engine;
  EngineOptions options;
  if (interrupt != nullptr) options.stop = [interrupt] { return interrupt->load(); };
  const std::optional<Trace> simulated = simulate_contender(contender, engine, local.problem(), options);
  if (!simulated) return result;
  // simgrid gives the same again; the model engine's prediction is a median over varying task times
  result.makespan =
      engine == "simgrid" ? local.run_overhead + simulated->makespan : predict_contender(contender, local);
  result.error = result.makespan / measured.median().median - 1;
  result.difference = difference_of(local.problem(), *simulated, measured.typical().trace);
  return result;
}

ScheduleValidation evaluate_schedule(ScheduleRuns& runs, std::size_t i, const LocalProblem& local,
                                     const ValidationRequest& request) {
  const Contender& contender = runs.contenders()[i];
  const MeasuredSchedule& m = runs.measured(i);
  ScheduleValidation s;
  s.scheduler = contender.name;
  s.repeated = m.repeated;
  s.disturbed = m.disturbed;
  s.seconds = m.seconds();
  const MedianInterval median = m.median();
  s.median = median.median;
  s.low = median.low;
  s.high = median.high;
  if (!(s.median > 0)) return s;
  for (const std::string& engine : request.engines)
    if (EngineResult r = engine_result(engine, contender, local, m, request.run.stop); r.makespan > 0)
      s.engines.push_back(std::move(r));
  s.own_times_makespan = predict_contender(contender, runs.with_own_times(i));
  if (s.own_times_makespan > 0) s.own_times_error = s.own_times_makespan / s.median - 1;
  return s;
}

GraphValidation evaluate(ScheduleRuns& runs, const std::string& name, const ValidationRequest& request,
                         const Progress& progress) {
  GraphValidation v;
  v.graph = name;
  v.batch = runs.prepared().batch;
  v.micro_batch = runs.prepared().micro_batch;
  v.tasks = runs.graph().task_count();
  v.workers = runs.prepared().workers;
  const LocalProblem local = runs.calibrated();
  v.calibration_runs = runs.calibration().runs();
  v.calibration_disturbed = runs.calibration_disturbed();
  v.calibration_error = runs.calibration().relative_error();
  v.task_overhead = local.platform.kinds[0].task_overhead.value;
  v.run_overhead = local.run_overhead;
  v.deviation = local.deviation;
  for (std::size_t i = 0; i < runs.contenders().size(); ++i) {
    if (progress) progress(fmt::format("{}: engines for {}", name, runs.contenders()[i].name));
    v.schedules.push_back(evaluate_schedule(runs, i, local, request));
  }
  return v;
}

double median_of(std::vector<double> values) {
  return median_interval(std::move(values)).median;
}

void judge_order(GraphValidation& v, const std::vector<std::string>& engines) {
  for (const std::string& engine : engines) {
    std::vector<MeasuredValue> measured;
    std::vector<double> predicted, errors;
    for (const ScheduleValidation& s : v.schedules)
      for (const EngineResult& e : s.engines)
        if (e.engine == engine) {
          measured.push_back({s.median, s.low, s.high});
          predicted.push_back(e.makespan);
          errors.push_back(std::abs(e.error));
        }
    if (predicted.empty()) continue;
    v.orders.push_back({engine, rank_agreement(measured, predicted), median_of(errors),
                        *std::max_element(errors.begin(), errors.end())});
  }
}

/// Schedules that both engines have; the tie of the order is a thousandth, below what either means.
std::optional<GraphValidation::Engines> judge_engines(const GraphValidation& v) {
  GraphValidation::Engines pair;
  std::vector<MeasuredValue> one;
  std::vector<double> other, apart;
  for (const ScheduleValidation& s : v.schedules) {
    if (s.engines.size() < 2) continue;
    const double a = s.engines[0].makespan, b = s.engines[1].makespan;
    pair.first = s.engines[0].engine;
    pair.second = s.engines[1].engine;
    one.push_back({a, a, a});
    other.push_back(b);
    apart.push_back(std::abs(b / a - 1));
  }
  if (apart.empty()) return std::nullopt;
  pair.schedules = apart.size();
  pair.median_apart = median_of(apart);
  pair.largest_apart = *std::max_element(apart.begin(), apart.end());
  pair.tau = rank_agreement(one, other, 1e-3).tau;
  return pair;
}

void add_totals(Validation& v, const std::vector<std::string>& engines) {
  for (const std::string& engine : engines) {
    std::vector<double> errors;
    for (const GraphValidation& g : v.graphs)
      for (const ScheduleValidation& s : g.schedules)
        for (const EngineResult& e : s.engines)
          if (e.engine == engine) errors.push_back(std::abs(e.error));
    if (!errors.empty()) v.totals.push_back({engine, errors.size(), median_of(errors)});
  }
}

/// nullopt after an interruption.
std::optional<GraphValidation> validate_graph(const std::string& name, const ValidationRequest& request,
                                              const Progress& progress) {
  const NetworkSource source = load_network(name, all_layers(), {request.weights, request.run.seed});
  ScheduleRuns runs(source.graph, request.run, request.blocks);
  for (const std::string& scheduler : request.schedulers) runs.add(scheduler);
  if (!runs.measure([&](const std::string& what) {
        if (progress) progress(fmt::format("{}: {}", name, what));
      }))
    return std::nullopt;
  GraphValidation v = evaluate(runs, name, request, progress);
  judge_order(v, request.engines);
  v.between = judge_engines(v);
  return v;
}

}  // namespace

Validation validate_engines(const ValidationRequest& request, const Progress& progress) {
  if (request.graphs.empty() || request.schedulers.empty())
    throw InputError("a validation needs at least one network and one scheduler");
  Validation v;
  try {
    for (const std::string& name : request.graphs) {
      std::optional<GraphValidation> graph = validate_graph(name, request, progress);
      v.interrupted = !graph;
      if (!graph) break;
      v.graphs.push_back(*std::move(graph));
    }
  } catch (const DeviceError&) {  // a calibration or a simulation that was stopped
    if (request.run.stop == nullptr || !request.run.stop->load()) throw;
    v.interrupted = true;
  }
  add_totals(v, request.engines);
  return v;
}

}  // namespace espalier
