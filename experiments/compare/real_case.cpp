#include "experiments/compare/real_case.hpp"

#include <fmt/format.h>

#include "experiments/simulate/engines.hpp"
#include "experiments/workloads/graph_source.hpp"
#include "graphs/base/error.hpp"
#include "layers/layer_list.hpp"

namespace espalier {
namespace {

RunRequest run_request(const ProblemOptions& options, const ComparisonRequest& request) {
  RunRequest r = options.run_request();
  r.iterations = request.iterations;
  r.stop = request.interrupt;
  return r;
}

}  // namespace

RealCase::RealCase(const ProblemOptions& options, const ComparisonRequest& request)
    : runs_(load_network(options.graph, all_layers(), {options.lowering.weights, options.seed}).graph,
            run_request(options, request), request.rounds) {}

LoadedProblem RealCase::problem() {
  local_ = runs_.calibrated();
  return {{runs_.graph(), {}, {}}, local_->platform, local_->costs, local_->seed, local_->time_limit, {}, {}};
}

std::optional<std::size_t> RealCase::place_of(const std::string& scheduler) const {
  for (std::size_t i = 0; i < runs_.contenders().size(); ++i)
    if (runs_.contenders()[i].name == scheduler) return i;
  return std::nullopt;
}

std::optional<SimulationResult> RealCase::result(const std::string& engine, const std::string& scheduler,
                                                 const std::function<bool()>& stop) const {
  const auto place = place_of(scheduler);
  if (!place) return std::nullopt;
  const Contender& contender = runs_.contenders()[*place];
  SimulationResult result;
  if (engine == kRealEngine) {
    const MeasuredSchedule& m = runs_.measured(*place);
    if (m.runs.empty()) return std::nullopt;
    result.trace = m.typical().trace;
  } else {
    auto trace =
        simulate_contender(contender, engine, local_->problem(), {.model = {}, .hybrid = {}, .stop = stop});
    if (!trace) throw InputError(fmt::format("{}: the model engine has no policy of this name", scheduler));
    result.trace = *std::move(trace);
  }
  result.scheduler = result.trace.scheduler = scheduler;
  result.scheduler_seconds = contender.plan ? contender.scheduler_seconds : result.trace.scheduler_seconds;
  result.plan = contender.plan;
  return result;
}

std::optional<Measured> RealCase::measured(const std::string& scheduler) const {
  const auto place = place_of(scheduler);
  if (!place) return std::nullopt;
  const MeasuredSchedule& m = runs_.measured(*place);
  const MedianInterval median = m.median();
  return Measured{m.seconds(), median.low, median.high, m.disturbed};
}

}  // namespace espalier
