#include "experiments/compare/comparison.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "experiments/compare/real_case.hpp"
#include "experiments/simulate/engines.hpp"
#include "graphs/base/error.hpp"
#include "runtime/simgrid/simulate.hpp"
#include "schedulers/scheduler_list.hpp"

namespace espalier {
namespace {

constexpr std::size_t kCurveParts = 240;
constexpr std::size_t kLargestForExact = 128;

/// What a step of the chain is, without which one of its kind.
std::string step_in_words(const SchedulingProblem& problem, const Trace& trace, const ChainLink& link) {
  if (link.step == ChainStep::transfer) {
    const TransferEvent& e = trace.transfers[link.event];
    return fmt::format("transfer {} -> {}", problem.platform.memories[e.from].name,
                       problem.platform.memories[e.to].name);
  }
  const TaskEvent& e = trace.tasks[link.event];
  return fmt::format("{}{} on {}", link.step == ChainStep::wait ? "wait before " : "",
                     problem.graph.class_of(e.task).codelet, problem.platform.workers[e.worker].name);
}

/// Neighbours of one kind are told together; the longest of these parts, in order of time.
std::vector<std::string> chain_in_words(const SchedulingProblem& problem, const Trace& trace,
                                        const CriticalChain& chain) {
  constexpr std::size_t kShown = 12;
  struct Part {
    std::string what;
    const ChainLink* first;
    std::size_t steps;
    double start, end;
  };
  std::vector<Part> parts;
  for (const ChainLink& l : chain.links) {
    std::string what = step_in_words(problem, trace, l);
    if (!parts.empty() && parts.back().what == what) {
      ++parts.back().steps;
      parts.back().end = l.end;
    } else {
      parts.push_back({std::move(what), &l, 1, l.start, l.end});
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.end - a.start > b.end - b.start; });
  if (parts.size() > kShown) parts.resize(kShown);
  std::stable_sort(parts.begin(), parts.end(),
                   [](const Part& a, const Part& b) { return a.start < b.start; });
  std::vector<std::string> lines;
  for (const Part& p : parts) {
    const bool unit_less = problem.graph.unit_less;
    const bool one_task = p.steps == 1 && p.first->step == ChainStep::task;
    std::string line =
        one_task      ? fmt::format("{} on {}", problem.graph.task_name(trace.tasks[p.first->event].task),
                                    problem.platform.workers[trace.tasks[p.first->event].worker].name)
        : p.steps > 1 ? fmt::format("{} x {}", p.steps, p.what)
                      : p.what;
    line += fmt::format(": {} ({:.1f} %), from {}", show_time(p.end - p.start, unit_less),
                        trace.makespan > 0 ? 100 * (p.end - p.start) / trace.makespan : 0.0,
                        show_time(p.start, unit_less));
    lines.push_back(line + fmt::format(", {}", name_of(p.first->after)));
  }
  return lines;
}

ComparisonRow make_row(const ComparisonCase& c, const SimulationResult& result, std::size_t bars) {
  const SchedulingProblem problem = c.loaded->problem();
  ComparisonRow row;
  row.scheduler = result.scheduler;
  row.engine = result.trace.engine;
  row.summary = summarise(problem, result.trace, c.bounds);
  row.scheduler_seconds = result.scheduler_seconds;
  row.engine_seconds = result.engine_seconds;
  row.transfers = row.summary.transfers;
  row.planned = result.plan.has_value();
  if (result.plan) {
    row.planned_makespan = result.plan->makespan;
    row.proven_optimal = result.plan->proven_optimal;
  }
  const IdleTime idle = idle_time(problem, result.trace);
  row.kinds = by_kind(problem.platform, idle);
  row.chain = critical_chain(problem, result.trace);
  row.chain_text = chain_in_words(problem, result.trace, row.chain);
  row.links = link_use(problem, result.trace);
  row.curves = make_curves(problem, result.trace, kCurveParts);
  row.gantt = make_gantt(problem.platform, result.trace, idle, row.chain, bars);
  return row;
}

class Run {
 public:
  Run(const ComparisonRequest& request, const ComparisonWatcher& watcher)
      : request_(request), watcher_(watcher) {}

  Comparison all() {
    Comparison comparison;
    all_ = request_.graphs.size() * request_.platforms.size() * request_.schedulers.size() *
           request_.engines.size();
    for (const std::string& graph : request_.graphs)
      for (const std::string& platform : request_.platforms) {
        if (stopped()) break;
        ComparisonCase c = one_case(graph, platform);
        if (c.loaded) comparison.cases.push_back(std::move(c));
      }
    comparison.interrupted = stopped();
    return comparison;
  }

 private:
  bool stopped() const { return watcher_.stop && watcher_.stop(); }

  ComparisonCase one_case(const std::string& graph, const std::string& platform) {
    ComparisonCase c;
    ProblemOptions options = request_.options;
    options.graph = graph;
    options.platform = platform;
    real_.reset();
    if (request_.real_runs()) {
      if (!measure(c, options)) return c;  // without a problem: nothing was measured to its end
      c.loaded = std::make_unique<LoadedProblem>(real_->problem());
    } else {
      c.loaded = std::make_unique<LoadedProblem>(load_problem(options));
    }
    c.how = options.reproduction(c.loaded->workload.graph);
    c.bounds = lower_bounds(c.loaded->problem());
    best_.reset();
    for (const std::string& engine : request_.engines)
      for (const std::string& scheduler : request_.schedulers) {
        if (stopped()) break;
        if (watcher_.on_start) watcher_.on_start(c, scheduler, done_, all_);
        one_row(c, engine, scheduler);
        ++done_;
      }
    finish(c);
    return c;
  }

  /// Why a scheduler does not take part; empty: it does.
  std::string too_large(const std::string& scheduler, std::size_t tasks) const {
    if (scheduler != "exact" || tasks <= kLargestForExact || request_.schedulers.size() == 1) return {};
    return fmt::format("the graph has {} tasks, branch and bound takes at most {}", tasks, kLargestForExact);
  }

  void leave_out(ComparisonCase& c, const std::string& scheduler, const std::string& engine,
                 const std::string& reason) {
    c.left_out.push_back({scheduler, engine, reason});
    last_error_ = reason;
  }

  /// Real runs of all schedulers, which take turns; false after an interruption.
  bool measure(ComparisonCase& c, const ProblemOptions& options) try {
    real_ = std::make_unique<RealCase>(options, request_);
    for (const std::string& scheduler : request_.schedulers) {
      try {
        if (std::string reason = too_large(scheduler, real_->tasks()); !reason.empty())
          throw InputError(std::move(reason));
        real_->add(scheduler);
      } catch (const InputError& e) {
        for (const std::string& engine : request_.engines) leave_out(c, scheduler, engine, e.what());
      }
    }
    return real_->measure(watcher_.on_real_runs);
  } catch (const DeviceError&) {  // a calibration that was stopped
    if (!stopped()) throw;
    return false;
  }

  std::optional<SimulationResult> result_of(const ComparisonCase& c, const std::string& engine,
                                            const std::string& scheduler) {
    if (real_) return real_->result(engine, scheduler, watcher_.stop);
    const SchedulingProblem problem = c.loaded->problem();
    const SchedulerName name = scheduler_name(scheduler);
    SimulationResult result = run_scheduler(engine, *c.loaded, name.scheduler,
                                            {.model = {}, .hybrid = name.hybrid, .stop = watcher_.stop});
    result.scheduler = result.trace.scheduler = scheduler;
    if (result.plan) validate(*result.plan, problem);
    return result;
  }

  void one_row(ComparisonCase& c, const std::string& engine, const std::string& scheduler) {
    const std::size_t tasks = c.loaded->workload.graph.task_count();
    if (const std::string reason = too_large(scheduler, tasks); !real_ && !reason.empty()) {
      leave_out(c, scheduler, engine, reason);
      return;
    }
    try {
      std::optional<SimulationResult> maybe = result_of(c, engine, scheduler);
      if (!maybe) return;
      SimulationResult& result = *maybe;
      const std::size_t charts = std::max<std::size_t>(1, all_);
      const std::size_t bars =
          tasks * charts <= request_.bars
              ? request_.most_bars
              : std::clamp<std::size_t>(request_.bars / charts, 2000, request_.most_bars);
      c.rows.push_back(make_row(c, result, bars));
      const auto real = request_.real_makespans.find(scheduler);
      if (real != request_.real_makespans.end()) c.rows.back().real_makespan = real->second;
      if (engine == kRealEngine) c.rows.back().measured = real_->measured(scheduler);
      if (result.plan && scheduler == "exact") c.proven = std::max(c.proven, result.plan->lower_bound);
      if (watcher_.on_result) watcher_.on_result(c, result);
      const bool better = !best_ || (result.trace.engine == best_->trace.engine &&
                                     result.trace.makespan < best_->trace.makespan);
      if (better) best_ = std::move(result);
    } catch (const simgrid::Stopped&) {  // the watcher, who is asked again before the next
    } catch (const InputError& e) {
      leave_out(c, scheduler, engine, e.what());
    }
  }

  void finish(ComparisonCase& c) {
    if (c.rows.empty()) {
      if (stopped()) return;
      throw InputError(fmt::format("no scheduler can serve {} on {}; the last one says: {}", c.how.graph,
                                   c.how.platform, last_error_));
    }
    const auto place = [&](const ComparisonRow& r) {
      return std::find(request_.engines.begin(), request_.engines.end(), r.engine) - request_.engines.begin();
    };
    std::stable_sort(c.rows.begin(), c.rows.end(), [&](const ComparisonRow& a, const ComparisonRow& b) {
      if (a.engine != b.engine) return place(a) < place(b);
      return a.summary.makespan < b.summary.makespan;
    });
    c.differences = engine_differences(c);
    // proven in the scheduler's own model of transfers; the engine may relay data in other ways
    if (c.proven > c.rows.front().summary.makespan * (1 + 1e-9)) c.proven = 0;
    for (ComparisonRow& row : c.rows)
      if (c.best_bound() > 0) row.summary.gap = std::max(0.0, row.summary.makespan / c.best_bound() - 1);
    // what-if runs are on the model engine
    if (request_.savings && best_ && best_->trace.engine == "model" && !stopped())
      c.savings = what_would_help(c.loaded->problem(), *best_, c.rows.front().chain);
    judge(c);
  }

  const ComparisonRequest& request_;
  const ComparisonWatcher& watcher_;
  std::unique_ptr<RealCase> real_;  ///< of the case at hand; null: no real runs
  std::optional<SimulationResult> best_;
  std::string last_error_;
  std::size_t done_ = 0, all_ = 0;
};

}  // namespace

bool ComparisonRequest::real_runs() const {
  return std::find(engines.begin(), engines.end(), kRealEngine) != engines.end();
}

double ComparisonCase::best_bound() const {
  return std::max(bounds.best(), proven);
}

std::span<const ComparisonRow> ComparisonCase::first_engine() const {
  const auto end =
      std::find_if(rows.begin(), rows.end(), [&](const auto& r) { return r.engine != rows.front().engine; });
  return {rows.begin(), end};
}

std::string ComparisonCase::best_bound_name() const {
  const std::pair<double, const char*> named[] = {{bounds.critical_path, "critical path"},
                                                  {bounds.area, "area"},
                                                  {bounds.area_transfers, "area with transfers"},
                                                  {bounds.mixed, "mixed LP"},
                                                  {bounds.interval, "interval"},
                                                  {proven, "proven by branch and bound"}};
  for (const auto& [value, name] : named)
    if (value > 0 && value >= best_bound()) return name;
  return "none";
}

std::vector<std::string> schedulers_of(const std::string& text) {
  std::vector<std::string> names;
  const auto add = [&](std::string name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  };
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    begin = end + 1;
    if (name == "all")
      for (const SchedulerEntry& e : all_schedulers()) add(std::string(e.name));
    else if (is_starpu_policy(name))
      add(name);
    else if (name.find('/') != std::string::npos)
      add((scheduler_name(name), name));
    else
      add(std::string(scheduler_named(name).name));
  }
  return names;
}

void require_engines(const ComparisonRequest& request) {
  if (request.engines.empty()) throw InputError("--engines: at least one is needed");
  std::vector<std::string> names = simulating_engines();
  names.emplace_back(kRealEngine);
  for (const std::string& engine : request.engines)
    if (std::find(names.begin(), names.end(), engine) == names.end())
      throw InputError(fmt::format("--engines {}: accepted are {}", engine, fmt::join(names, ", ")));
  if (!request.real_runs()) return;
  ProblemOptions options = request.options;
  for (const std::string& graph : request.graphs)
    for (const std::string& platform : request.platforms) {
      options.graph = graph;
      options.platform = platform;
      options.require_for_run("engine starpu");
    }
}

Comparison compare(const ComparisonRequest& request, const ComparisonWatcher& watcher) {
  Comparison comparison = Run(request, watcher).all();
  for (ComparisonCase& c : comparison.cases)
    for (ComparisonRow& row : c.rows) {
      if (is_starpu_policy(row.scheduler)) {
        row.family = "starpu";
        row.about = "a policy of StarPU's own";
        continue;
      }
      const SchedulerEntry& entry = scheduler_named(scheduler_name(row.scheduler).scheduler);
      row.family = entry.family;
      row.about = fmt::format("{}. {}", entry.summary, entry.source);
    }
  return comparison;
}

}  // namespace espalier
