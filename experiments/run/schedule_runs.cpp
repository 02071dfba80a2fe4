#include "experiments/run/schedule_runs.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "layers/layer_list.hpp"

namespace espalier {

std::vector<double> MeasuredSchedule::seconds() const {
  std::vector<double> out;
  for (const MeasuredRun& r : runs) out.push_back(r.statistics.makespan);
  return out;
}

MedianInterval MeasuredSchedule::median() const {
  return median_interval(seconds());
}

const MeasuredRun& MeasuredSchedule::typical() const {
  const double middle = median().median;
  return *std::min_element(runs.begin(), runs.end(), [&](const MeasuredRun& a, const MeasuredRun& b) {
    return std::abs(a.statistics.makespan - middle) < std::abs(b.statistics.makespan - middle);
  });
}

ScheduleRuns::ScheduleRuns(const Graph& network, const RunRequest& request, int rounds)
    : request_(request),
      rounds_(std::clamp(rounds, 1, std::max(1, request.iterations))),
      first_(load_local_problem(network, all_layers(), request)),
      calibrated_(graph()) {}

void ScheduleRuns::add(const std::string& scheduler) {
  contenders_.push_back(make_contender(scheduler, first_, request_));
  measured_.emplace_back(graph());
}

bool ScheduleRuns::measure(const Progress& progress) {
  for (int r = 0; r < rounds_; ++r) {
    if (progress) progress(fmt::format("round {} of {}", r + 1, rounds_));
    if (!round(r)) return false;
  }
  return true;
}

LocalProblem ScheduleRuns::calibrated() {
  return assemble_local_problem(prepared(), calibrated_.costs(), request_);
}

LocalProblem ScheduleRuns::with_own_times(std::size_t contender) {
  return assemble_local_problem(prepared(), measured_[contender].times.costs(), request_);
}

int ScheduleRuns::runs_of_round(int number) const {
  const int all = request_.iterations;
  return all * (number + 1) / rounds_ - all * number / rounds_;
}

starpu::SessionOptions ScheduleRuns::session_options() const {
  starpu::SessionOptions options;
  options.kernels = request_.kernels;
  options.record_trace = true;
  options.stop = request_.stop;
  return options;
}

bool ScheduleRuns::round(int number) {
  std::vector<std::string> policies;
  for (const Contender& c : contenders_)
    if (std::find(policies.begin(), policies.end(), c.starpu_policy) == policies.end())
      policies.push_back(c.starpu_policy);
  if (std::find(policies.begin(), policies.end(), "") == policies.end()) policies.emplace_back();
  // another one begins each time: what grows or fades within a round meets all of them
  std::rotate(policies.begin(), policies.begin() + number % static_cast<int>(policies.size()),
              policies.end());
  return std::all_of(policies.begin(), policies.end(),
                     [&](const std::string& policy) { return under(policy, number); });
}

/// One policy of StarPU's, or with "" the calibration and all schedules of ours.
bool ScheduleRuns::under(const std::string& policy, int number) {
  starpu::Machine machine(
      {policy.empty() ? std::string(starpu::kOwnPolicy) : policy, request_.machine.cores});
  starpu::NetworkSession session(machine, prepared().program, all_layers(), session_options());
  give_inputs(session, request_);
  give_costs_to_starpu(prepared(), machine, request_);
  const std::size_t n = contenders_.size();
  const auto ours = std::count_if(contenders_.begin(), contenders_.end(),
                                  [](const Contender& c) { return c.starpu_policy.empty(); });
  const int wanted = runs_of_round(number);
  if (policy.empty() && ours == 0 && !calibrate_in(session, wanted)) return false;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = (k + static_cast<std::size_t>(number)) % n;
    if (contenders_[i].starpu_policy != policy) continue;
    // a few runs of the calibration before each schedule: the machine treats it no better than these
    if (policy.empty() && !calibrate_in(session, std::max(1, wanted / static_cast<int>(ours)))) return false;
    session.set_driver(contenders_[i].driver.get());
    MeasuredRuns runs = measured_runs(session, 1, wanted);
    session.set_driver(nullptr);
    if (runs.interrupted) return false;
    MeasuredSchedule& m = measured_[i];
    m.repeated += runs.repeated;
    m.disturbed += runs.disturbed;
    for (MeasuredRun& r : runs.kept) {
      m.times.add(r.trace, prepared().workers);
      m.runs.push_back(std::move(r));
    }
  }
  return true;
}

bool ScheduleRuns::calibrate_in(starpu::NetworkSession& session, int wanted) {
  const MeasuredRuns runs = measured_runs(session, 1, wanted);
  calibration_disturbed_ += runs.disturbed;
  for (const MeasuredRun& r : runs.kept) calibrated_.add(r.trace, prepared().workers);
  return !runs.interrupted;
}

}  // namespace espalier
