#include "experiments/fit_costs/fit_report.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "graphs/base/error.hpp"
#include "runtime/perfmodel/fitted/all_reduce.hpp"

namespace espalier {
namespace {

using fitted::KernelEvaluation;
using fitted::Prediction;

double median_of_absolute(std::vector<double> errors) {
  for (double& e : errors) e = std::abs(e);
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  return n == 0 ? std::nan("") : 0.5 * (errors[(n - 1) / 2] + errors[n / 2]);
}

AllReduceReport all_reduce_report(const fitted::AllReduceTimes& training, const std::vector<double>& errors) {
  const fitted::AllReduceFit fit = fitted::fit_all_reduce(training);
  return {fit.system, fit.latency, fit.bandwidth, median_of_absolute(errors), errors.size()};
}

std::vector<Prediction> worst_of(const KernelEvaluation& e, int count) {
  std::vector<Prediction> all = e.predictions;
  const auto badness = [](const Prediction& p) { return std::abs(std::log(p.predicted / p.measured)); };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Prediction& a, const Prediction& b) { return badness(a) > badness(b); });
  all.resize(std::min(all.size(), static_cast<std::size_t>(std::max(0, count))));
  return all;
}

std::string milliseconds(double seconds) {
  return fmt::format("{:.4g} ms", seconds * 1000);
}

bool has_seen(const KernelEvaluation& e) {
  return std::any_of(e.predictions.begin(), e.predictions.end(), [](const Prediction& p) { return p.seen; });
}

nlohmann::ordered_json summary_json(const fitted::ErrorSummary& s) {
  nlohmann::ordered_json out;
  out["median_absolute_percentage_error"] =
      s.count == 0 ? nlohmann::ordered_json() : nlohmann::ordered_json(100 * s.median);
  out["times"] = s.count;
  return out;
}

}  // namespace

FitReport cross_validation_report(const fitted::Measurements& data, int folds) {
  FitReport report;
  report.method = folds == 0 ? "cross-validated by problem, each held out in turn"
                             : fmt::format("cross-validated by problem, {} folds", folds);
  for (const fitted::KernelTimes& t : data.kernels)
    report.kernels.push_back(fitted::cross_validate(t, folds));
  for (const fitted::AllReduceTimes& t : data.all_reduces)
    report.all_reduces.push_back(all_reduce_report(t, fitted::cross_validate(t, folds)));
  return report;
}

FitReport evaluation_report(const fitted::Measurements& training, const fitted::Measurements& test) {
  FitReport report;
  report.method = "trained on the one set, tested on the other";
  for (const fitted::KernelTimes& t : test.kernels)
    for (const fitted::KernelTimes& known : training.kernels)
      if (known.kind == t.kind) report.kernels.push_back(fitted::evaluate(known, t));
  for (const fitted::AllReduceTimes& t : test.all_reduces)
    for (const fitted::AllReduceTimes& known : training.all_reduces) {
      if (known.system != t.system) continue;
      const fitted::AllReduceFit fit = fitted::fit_all_reduce(known);
      std::vector<double> errors;
      for (const auto& [bytes, seconds] : t.times) errors.push_back(fit.seconds(bytes) / seconds - 1);
      report.all_reduces.push_back(all_reduce_report(known, errors));
    }
  if (report.kernels.empty() && report.all_reduces.empty())
    throw InputError(
        "the data to evaluate have no kernel and no all-reduce system in common with the training data");
  return report;
}

std::string report_to_text(const FitReport& report, int worst) {
  std::string text = fmt::format("median absolute percentage error, {}\n", report.method);
  for (const KernelEvaluation& e : report.kernels) {
    const auto all = fitted::median_error(e);
    text += fmt::format("\n{:<36} {:>6.1f} %  {:>5} times\n", fitted::name_of(e.kind), 100 * all.median,
                        all.count);
    for (const std::string& d : e.devices)
      if (const auto one = fitted::median_error(e, d); one.count > 0)
        text += fmt::format("  {:<34} {:>6.1f} %  {:>5}\n", d, 100 * one.median, one.count);
    if (has_seen(e))
      for (const bool seen : {false, true})
        if (const auto part = fitted::median_error_of(e, seen); part.count > 0)
          text += fmt::format("  {:<34} {:>6.1f} %  {:>5}\n",
                              seen ? "problems seen in training" : "problems not seen", 100 * part.median,
                              part.count);
    if (!e.unknown_devices.empty())
      text += fmt::format("  not predicted, since no training data have them: {}\n",
                          fmt::join(e.unknown_devices, ", "));
    const auto cases = worst_of(e, worst);
    if (!cases.empty()) text += "  worst:\n";
    for (const Prediction& p : cases)
      text +=
          fmt::format("    {:+.0f} %  {} instead of {}  {}  {}\n", 100 * p.error(), milliseconds(p.predicted),
                      milliseconds(p.measured), e.devices[p.device], fitted::to_text(e.kind, p.problem));
  }
  if (!report.all_reduces.empty()) text += "\nall-reduce: latency + 2 (n-1)/n bytes / bandwidth\n";
  for (const AllReduceReport& a : report.all_reduces)
    text += fmt::format("  {:<34} {:>6.1f} %  {:>5}   {:.1f} us, {:.1f} GB/s\n", a.system,
                        100 * a.median_error, a.count, a.latency * 1e6, a.bandwidth * 1e-9);
  return text;
}

std::string report_to_json(const FitReport& report, int worst) {
  nlohmann::ordered_json out;
  out["method"] = report.method;
  out["kernels"] = nlohmann::ordered_json::array();
  for (const KernelEvaluation& e : report.kernels) {
    nlohmann::ordered_json kernel;
    kernel["kernel"] = fitted::name_of(e.kind);
    kernel.update(summary_json(fitted::median_error(e)));
    kernel["devices"] = nlohmann::ordered_json::object();
    for (const std::string& d : e.devices)
      if (const auto one = fitted::median_error(e, d); one.count > 0)
        kernel["devices"][d] = summary_json(one);
    kernel["problems_not_seen"] = summary_json(fitted::median_error_of(e, false));
    kernel["problems_seen"] = summary_json(fitted::median_error_of(e, true));
    kernel["unknown_devices"] = e.unknown_devices;
    kernel["worst"] = nlohmann::ordered_json::array();
    for (const Prediction& p : worst_of(e, worst)) {
      nlohmann::ordered_json one;
      one["device"] = e.devices[p.device];
      const auto names = fitted::parameter_names(e.kind);
      for (std::size_t i = 0; i < names.size(); ++i) one["problem"][std::string(names[i])] = p.problem[i];
      one["predicted_seconds"] = p.predicted;
      one["measured_seconds"] = p.measured;
      one["percentage_error"] = 100 * p.error();
      kernel["worst"].push_back(std::move(one));
    }
    out["kernels"].push_back(std::move(kernel));
  }
  out["all_reduce"] = nlohmann::ordered_json::array();
  for (const AllReduceReport& a : report.all_reduces) {
    nlohmann::ordered_json one;
    one["system"] = a.system;
    one["latency_seconds"] = a.latency;
    one["bandwidth"] = a.bandwidth;
    one["median_absolute_percentage_error"] = 100 * a.median_error;
    one["times"] = a.count;
    out["all_reduce"].push_back(std::move(one));
  }
  return out.dump(2) + "\n";
}

}  // namespace espalier
