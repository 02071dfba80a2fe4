#include "runtime/perfmodel/fitted/fitted_model.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace espalier::fitted {
namespace {

constexpr double kSmallestStream = 32e6;  // bytes: more than what the caches of these devices hold

double median_of_absolute(std::vector<double> errors) {
  for (double& e : errors) e = std::abs(e);
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  return 0.5 * (errors[(n - 1) / 2] + errors[n / 2]);
}

std::vector<FittedBandwidth> best_rates(const Measurements& data) {
  std::map<std::string, double> best;
  for (const KernelTimes& t : data.kernels)
    for (std::size_t p = 0; p < t.problems.size(); ++p)
      for (std::size_t d = 0; d < t.devices.size(); ++d) {
        if (std::isnan(t.at(p, d))) continue;
        const double value = t.devices[d].find("/fp16") != std::string::npos ? 0.5 : 1;
        const double bytes = value * bytes_of(t.kind, t.problems[p]);
        if (bytes < kSmallestStream) continue;
        double& rate = best[t.devices[d]];
        rate = std::max(rate, bytes / std::exp(t.at(p, d)));
      }
  std::vector<FittedBandwidth> out;
  for (const auto& [device, rate] : best) out.push_back({device, rate});
  return out;
}

}  // namespace

const FittedKernel* FittedModel::find(KernelKind kind, std::string_view device) const {
  for (const FittedKernel& k : kernels)
    if (k.fit.kind() == kind && k.fit.device_index(device)) return &k;
  return nullptr;
}

const FittedBandwidth* FittedModel::bandwidth_of(std::string_view device) const {
  for (const FittedBandwidth& b : bandwidths)
    if (b.device == device) return &b;
  return nullptr;
}

std::vector<std::string> FittedModel::devices() const {
  std::set<std::string> all;
  for (const FittedKernel& k : kernels) all.insert(k.fit.devices().begin(), k.fit.devices().end());
  for (const FittedBandwidth& b : bandwidths) all.insert(b.device);
  return {all.begin(), all.end()};
}

FittedModel train_model(const Measurements& data, const std::vector<KernelEvaluation>& evaluations,
                        int folds) {
  FittedModel model;
  for (std::size_t k = 0; k < data.kernels.size(); ++k) {
    FittedKernel kernel{KernelFit::train(data.kernels[k]), {}};
    for (const std::string& d : kernel.fit.devices())
      kernel.errors.push_back(median_error(evaluations.at(k), d));
    model.kernels.push_back(std::move(kernel));
  }
  model.bandwidths = best_rates(data);
  for (const AllReduceTimes& t : data.all_reduces)
    model.all_reduces.push_back({fit_all_reduce(t), median_of_absolute(cross_validate(t, folds))});
  return model;
}

FittedModel train_model(const Measurements& data, int folds) {
  std::vector<KernelEvaluation> evaluations;
  for (const KernelTimes& t : data.kernels) evaluations.push_back(cross_validate(t, folds));
  return train_model(data, evaluations, folds);
}

}  // namespace espalier::fitted
