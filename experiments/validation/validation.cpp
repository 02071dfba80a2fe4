#include "experiments/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "experiments/calibrate/median.hpp"
#include "experiments/run/measured_runs.hpp"
#include "experiments/validation/contender.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"
#include "runtime/starpu/network_session.hpp"

namespace espalier {
namespace {

using Progress = std::function<void(const std::string&)>;

/// What is measured of one contender.
struct Measurements {
  explicit Measurements(const TaskGraph& graph) : times(graph) {}
  std::vector<MeasuredRun> runs;
  int repeated = 0, disturbed = 0;
  CostSamples times;
};

/// All schedules of one network on this machine.
class GraphRuns {
 public:
  GraphRuns(const Graph& network, std::string name, const ValidationRequest& request,
            const Progress& progress)
      : request_(request),
        progress_(progress),
        name_(std::move(name)),
        first_(load_local_problem(network, all_layers(), request.run)),
        prepared_(first_.prepared),
        calibrated_(graph()) {
    for (const std::string& s : request.schedulers) {
      contenders_.push_back(make_contender(s, first_, request.run));
      measured_.emplace_back(graph());
    }
  }

  /// False after an interruption.
  bool measure() {
    for (int b = 0; b < request_.blocks; ++b)
      if (!block(b)) return false;
    return true;
  }

  GraphValidation evaluate() {
    GraphValidation v;
    v.graph = name_;
    v.batch = prepared_.batch;
    v.micro_batch = prepared_.micro_batch;
    v.tasks = graph().task_count();
    v.workers = prepared_.workers;
    const LocalProblem local = assemble_local_problem(prepared_, calibrated_.costs(), request_.run);
    v.calibration_runs = calibrated_.runs();
    v.calibration_disturbed = calibration_disturbed_;
    v.calibration_error = calibrated_.relative_error();
    v.task_overhead = local.platform.kinds[0].task_overhead.value;
    v.run_overhead = local.run_overhead;
    v.deviation = local.deviation;
    for (std::size_t i = 0; i < contenders_.size(); ++i) v.schedules.push_back(evaluate(i, local));
    return v;
  }

 private:
  const TaskGraph& graph() const { return prepared_.program->tasks; }
  int runs_of_block(int b) const {
    const int all = request_.run.iterations;
    return all * (b + 1) / request_.blocks - all * b / request_.blocks;
  }

  starpu::SessionOptions session_options() const {
    starpu::SessionOptions options;
    options.kernels = request_.run.kernels;
    options.record_trace = true;
    options.stop = request_.run.stop;
    return options;
  }

  bool block(int b) {
    if (progress_) progress_(fmt::format("{}: round {} of {}", name_, b + 1, request_.blocks));
    std::vector<std::string> policies;
    for (const Contender& c : contenders_)
      if (std::find(policies.begin(), policies.end(), c.starpu_policy) == policies.end())
        policies.push_back(c.starpu_policy);
    if (std::find(policies.begin(), policies.end(), "") == policies.end()) policies.emplace_back();
    // another one begins each time: what grows or fades within a round meets all of them
    std::rotate(policies.begin(), policies.begin() + b % static_cast<int>(policies.size()), policies.end());
    for (const std::string& policy : policies)
      if (!under(policy, b)) return false;
    return true;
  }

  bool under(const std::string& policy, int b) {
    starpu::Machine machine(
        {policy.empty() ? std::string(starpu::kOwnPolicy) : policy, request_.run.machine.cores});
    starpu::NetworkSession session(machine, prepared_.program, all_layers(), session_options());
    give_inputs(session, request_.run);
    const std::size_t n = contenders_.size();
    const auto ours = std::count_if(contenders_.begin(), contenders_.end(),
                                    [](const Contender& c) { return c.starpu_policy.empty(); });
    if (policy.empty() && ours == 0 && !calibrate_in(session, runs_of_block(b))) return false;
    for (std::size_t k = 0; k < n; ++k) {
      const std::size_t i = (k + static_cast<std::size_t>(b)) % n;
      if (contenders_[i].starpu_policy != policy) continue;
      // a few runs of the calibration before each scheduler: the machine treats it no better than these
      if (policy.empty() && !calibrate_in(session, std::max(1, runs_of_block(b) / static_cast<int>(ours))))
        return false;
      session.set_driver(contenders_[i].driver.get());
      MeasuredRuns runs = measured_runs(session, 1, runs_of_block(b));
      session.set_driver(nullptr);
      if (runs.interrupted) return false;
      keep(measured_[i], std::move(runs));
    }
    return true;
  }

  bool calibrate_in(starpu::NetworkSession& session, int wanted) {
    const MeasuredRuns runs = measured_runs(session, 1, wanted);
    calibration_disturbed_ += runs.disturbed;
    for (const MeasuredRun& r : runs.kept) calibrated_.add(r.trace, prepared_.workers);
    return !runs.interrupted;
  }

  void keep(Measurements& m, MeasuredRuns runs) {
    m.repeated += runs.repeated;
    m.disturbed += runs.disturbed;
    for (MeasuredRun& r : runs.kept) {
      m.times.add(r.trace, prepared_.workers);
      m.runs.push_back(std::move(r));
    }
  }

  ScheduleValidation evaluate(std::size_t i, const LocalProblem& local) {
    Measurements& m = measured_[i];
    ScheduleValidation s;
    s.scheduler = contenders_[i].name;
    s.repeated = m.repeated;
    s.disturbed = m.disturbed;
    for (const MeasuredRun& r : m.runs) s.seconds.push_back(r.statistics.makespan);
    const MedianInterval median = median_interval(s.seconds);
    s.median = median.median;
    s.low = median.low;
    s.high = median.high;
    const std::optional<Trace> simulated = simulate_contender(contenders_[i], local.problem());
    if (!simulated || !(s.median > 0)) return s;
    const auto nearest =
        std::min_element(m.runs.begin(), m.runs.end(), [&](const MeasuredRun& a, const MeasuredRun& b) {
          return std::abs(a.statistics.makespan - s.median) < std::abs(b.statistics.makespan - s.median);
        });
    const double predicted = predict_contender(contenders_[i], local);
    s.engines.push_back({"model", predicted, predicted / s.median - 1,
                         difference_of(local.problem(), *simulated, nearest->trace)});
    const LocalProblem own = assemble_local_problem(prepared_, m.times.costs(), request_.run);
    s.own_times_makespan = predict_contender(contenders_[i], own);
    s.own_times_error = s.own_times_makespan / s.median - 1;
    return s;
  }

  const ValidationRequest& request_;
  const Progress& progress_;
  std::string name_;
  LocalProblem first_;  ///< the costs that plans are made with
  PreparedProgram prepared_;
  CostSamples calibrated_;
  int calibration_disturbed_ = 0;
  std::vector<Contender> contenders_;
  std::vector<Measurements> measured_;
};

double median_of(std::vector<double> values) {
  return median_interval(std::move(values)).median;
}

void judge_order(GraphValidation& v) {
  for (const char* engine : {"model", "simgrid"}) {
    std::vector<MeasuredValue> measured;
    std::vector<double> predicted, errors;
    for (const ScheduleValidation& s : v.schedules)
      for (const EngineResult& e : s.engines)
        if (e.engine == engine && e.makespan > 0) {
          measured.push_back({s.median, s.low, s.high});
          predicted.push_back(e.makespan);
          errors.push_back(std::abs(e.error));
        }
    if (predicted.empty()) continue;
    v.orders.push_back({engine, rank_agreement(measured, predicted), median_of(errors),
                        *std::max_element(errors.begin(), errors.end())});
  }
}

void add_totals(Validation& v) {
  for (const char* engine : {"model", "simgrid"}) {
    std::vector<double> errors;
    for (const GraphValidation& g : v.graphs)
      for (const ScheduleValidation& s : g.schedules)
        for (const EngineResult& e : s.engines)
          if (e.engine == engine) errors.push_back(std::abs(e.error));
    if (!errors.empty()) v.totals.push_back({engine, errors.size(), median_of(errors)});
  }
}

}  // namespace

Validation validate_engines(const ValidationRequest& request, const Progress& progress) {
  if (request.graphs.empty() || request.schedulers.empty())
    throw InputError("a validation needs at least one network and one scheduler");
  Validation v;
  for (const std::string& name : request.graphs) {
    const NetworkSource source = load_network(name, all_layers(), {request.weights, request.run.seed});
    GraphRuns runs(source.graph, name, request, progress);
    if (!runs.measure()) {
      v.interrupted = true;
      break;
    }
    v.graphs.push_back(runs.evaluate());
    judge_order(v.graphs.back());
  }
  add_totals(v);
  return v;
}

}  // namespace espalier
