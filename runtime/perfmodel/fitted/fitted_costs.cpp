#include "runtime/perfmodel/fitted/fitted_costs.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "runtime/perfmodel/fitted/kernel_calls.hpp"

namespace espalier::fitted {
namespace {

/// A call this factor beyond the measured ones is no longer called fitted.
const double kReach = std::log(1.5);
/// What the roofline takes for granted, see RooflineModel.
constexpr double kLeastEfficiency = 0.5;

std::span<const std::string_view> ranged_features(KernelKind kind) {
  static constexpr std::string_view conv[] = {"flops",       "input",    "output", "weights",
                                              "filter_area", "channels", "filters"};
  static constexpr std::string_view gemm[] = {"M", "N", "K"};
  static constexpr std::string_view recurrent[] = {"hidden", "batch", "steps"};
  if (kind == KernelKind::gemm) return gemm;
  return kind >= KernelKind::recurrent_forward ? std::span<const std::string_view>(recurrent) : conv;
}

struct Parameter {
  std::size_t index;
  std::string_view feature;
};

/// Beyond the largest measured call time is in proportion to the extent: makes `problem` one that is inside,
/// and returns how often its time is needed.
double shrink(const KernelFit& fit, Problem& problem) {
  static constexpr Parameter conv[] = {{3, "flops"}, {3, "input"}, {3, "output"}};
  static constexpr Parameter gemm[] = {{0, "M"}, {1, "N"}, {2, "K"}};
  static constexpr Parameter recurrent[] = {{2, "batch"}, {3, "steps"}};
  const std::span<const Parameter> all = fit.kind() == KernelKind::gemm ? std::span<const Parameter>(gemm)
                                         : fit.kind() >= KernelKind::recurrent_forward
                                             ? std::span<const Parameter>(recurrent)
                                             : conv;
  double times = 1;
  for (const auto& [index, feature] : all) {
    const double above = fit.beyond(problem, feature);
    if (above <= 0) continue;
    const double factor = std::min(std::exp(above), problem[index]);  // an extent of 1 at least
    problem[index] /= factor;
    times *= factor;
  }
  return times;
}

/// max(flops / peak, bytes / bandwidth) of the kind over that of the device it is scaled from.
double scale_of(const DeviceMatch& match, double flops, double bytes) {
  if (!match.scaled) return 1;
  const double compute = flops / match.published_flops, memory = bytes / match.published_bandwidth;
  return std::max(compute / match.flops_ratio, memory / match.bandwidth_ratio) / std::max(compute, memory);
}

std::string basis_text(std::string_view what, const DeviceMatch& match, const char* remark) {
  return fmt::format("{} of {}{}{}", what, match.device, match.scaled ? ", scaled by published peaks" : "",
                     remark);
}

}  // namespace

FittedCosts::FittedCosts(std::shared_ptr<const FittedModel> model)
    : model_(std::move(model)), devices_(model_->devices()) {}

std::optional<CostModel::Estimate> FittedCosts::of_bandwidth(const CostClassInfo& what,
                                                             const DeviceKind& kind,
                                                             const DeviceMatch& match) const {
  const FittedBandwidth* measured = model_->bandwidth_of(match.device);
  if (measured == nullptr) return std::nullopt;
  const double rate =
      std::max(measured->rate * match.bandwidth_ratio, kLeastEfficiency * kind.memory_bandwidth);
  const double memory = static_cast<double>(what.bytes.value) / rate;
  if (kind.peak_flops > 0 && what.flops.value / (kLeastEfficiency * kind.peak_flops) > memory)
    return std::nullopt;
  return Estimate{Seconds(memory), CostBasis{match.scaled ? CostSource::extrapolated : CostSource::fitted,
                                             basis_text("bandwidth", match, "")}};
}

std::optional<CostModel::Estimate> FittedCosts::estimate(const CostClassInfo& what,
                                                         const DeviceKind& kind) const {
  const auto match = match_device(kind, devices_);
  if (!match) return std::nullopt;
  const auto task = kernel_calls(what.codelet, what.signature);
  if (!task) return of_bandwidth(what, kind, *match);
  double seconds = 0, largest = 0;
  bool inside = !task->composed;
  std::string_view main;
  double error = 0;
  for (const KernelCall& call : task->calls) {
    const FittedKernel* kernel = model_->find(call.kind, match->device);
    if (kernel == nullptr) return std::nullopt;
    const std::size_t device = *kernel->fit.device_index(match->device);
    for (const std::string_view feature : ranged_features(call.kind))
      inside = inside && std::abs(kernel->fit.beyond(call.problem, feature)) <= kReach;
    Problem problem = call.problem;
    const double repeats = shrink(kernel->fit, problem);
    const double one = call.times * repeats * std::exp(kernel->fit.log_seconds(problem, device)) *
                       scale_of(*match, flops_of(call.kind, problem), bytes_of(call.kind, problem));
    seconds += one;
    if (one > largest) {
      largest = one;
      main = name_of(call.kind);
      error = kernel->errors[device].median;
    }
  }
  // a difference of products never takes away more than it stands for
  seconds = std::max(seconds, 0.1 * largest);
  if (!(seconds > 0) || !std::isfinite(seconds)) return std::nullopt;
  const bool trusted = inside && !match->scaled;
  CostBasis basis{trusted ? CostSource::fitted : CostSource::extrapolated,
                  basis_text(main, *match, inside ? "" : ", beyond the measured shapes")};
  if (trusted) basis.error = error;
  return Estimate{Seconds(seconds), std::move(basis)};
}

std::shared_ptr<const FittedModel> shipped_model() {
  static const std::shared_ptr<const FittedModel> all = [] {
    auto model = std::make_shared<FittedModel>();
    for (const ShippedModel& s : shipped_models()) {
      FittedModel one = model_from_json(s.json, std::string(s.name));
      std::move(one.kernels.begin(), one.kernels.end(), std::back_inserter(model->kernels));
      std::move(one.all_reduces.begin(), one.all_reduces.end(), std::back_inserter(model->all_reduces));
      for (FittedBandwidth& b : one.bandwidths) {
        const auto same =
            std::find_if(model->bandwidths.begin(), model->bandwidths.end(),
                         [&](const FittedBandwidth& other) { return other.device == b.device; });
        if (same == model->bandwidths.end())
          model->bandwidths.push_back(std::move(b));
        else
          same->rate = std::max(same->rate, b.rate);
      }
    }
    return model;
  }();
  return all;
}

}  // namespace espalier::fitted
