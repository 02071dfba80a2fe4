#include "runtime/perfmodel/fitted/kernel_fit.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "runtime/perfmodel/fitted/kernel_fit_state.hpp"

namespace espalier::fitted {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

/// Part of the covariance that all devices share.
constexpr double kShared = 0.3;
/// A call never runs faster than the best measured rate of the device times this.
constexpr double kRateMargin = 1.25;

struct MemberKind {
  CovarianceShape shape;
  std::vector<std::string> features;
};

// Chosen by the error on held-out problems among subsets of the features of kernel_kind.cpp.
std::vector<MemberKind> member_kinds(KernelKind kind) {
  using enum CovarianceShape;
  const std::vector<std::string> data = {"input",       "output",      "weights", "pixels",
                                         "filter_area", "stride_area", "patch",   "flops"};
  std::vector<std::string> data_and_winograd = data;
  data_and_winograd.emplace_back("winograd");
  switch (kind) {
    case KernelKind::conv_forward:
    case KernelKind::conv_backward_input:
      return {{matern32, data}, {matern52, data_and_winograd}};
    case KernelKind::conv_backward_weight:
      return {{matern32,
               {"flops", "bytes", "pixels", "filter_area", "stride_area", "input", "three_by_three",
                "winograd", "height", "spectra", "output_height", "narrow_channels", "wide_channels"}}};
    case KernelKind::gemm:
      return {{matern52, {"flops", "bytes", "M", "N", "K", "transposed_a", "transposed_b"}}};
    case KernelKind::recurrent_forward:
    case KernelKind::recurrent_backward:
      break;
  }
  return {{matern52, {"hidden", "batch", "steps", "plain", "gru"}},
          {matern52, {"step_flops", "weights", "batch", "steps", "gru", "plain"}},
          {squared_exponential, {"flops", "weights", "hidden", "batch", "steps", "gates"}}};
}

MatrixXd outputs_of(const KernelTimes& times) {
  MatrixXd y(static_cast<Index>(times.problems.size()), static_cast<Index>(times.devices.size()));
  for (std::size_t p = 0; p < times.problems.size(); ++p)
    for (std::size_t d = 0; d < times.devices.size(); ++d)
      y(static_cast<Index>(p), static_cast<Index>(d)) =
          times.at(p, d) - log_baseline(times.kind, times.problems[p]);
  return y;
}

/// Mean over the devices that have the problem; NaN when none has.
VectorXd common_part(const MatrixXd& y) {
  VectorXd common(y.rows());
  for (Index i = 0; i < y.rows(); ++i) {
    double sum = 0, count = 0;
    for (Index j = 0; j < y.cols(); ++j)
      if (!std::isnan(y(i, j))) {
        sum += y(i, j);
        count += 1;
      }
    common(i) = sum / count;
  }
  return common;
}

FitMember train_member(const MemberKind& how, const KernelTimes& times, const Centred& y, int iterations) {
  FitMember m;
  m.features = how.features;
  const auto n = static_cast<Index>(times.problems.size()), d = static_cast<Index>(how.features.size());
  m.mean = VectorXd::Zero(d);
  m.scale = VectorXd::Ones(d);
  m.points.resize(n, d);
  for (Index i = 0; i < n; ++i)
    m.points.row(i) = m.point(times.kind, times.problems[static_cast<std::size_t>(i)]);
  const VectorXd mean = m.points.colwise().mean();
  m.points.rowwise() -= mean.transpose();
  for (Index j = 0; j < d; ++j) {
    const double deviation = std::sqrt(m.points.col(j).squaredNorm() / static_cast<double>(n));
    // a feature that never varies tells nothing; elsewhere it must not weigh without bound
    m.scale(j) = deviation > 1e-6 ? deviation : 1;
    m.points.col(j) /= m.scale(j);
  }
  m.mean = mean;
  m.covariance = fit_covariance(how.shape, m.points, y, iterations);

  const VectorXd common = common_part(y.values);
  MatrixXd own = y.values;
  own.colwise() -= common;
  // covariance of the devices' mean: shared + (1 - shared) / devices, with noise / devices
  const auto devices = static_cast<double>(y.values.cols());
  const double share = kShared + (1 - kShared) / devices;
  m.weights = robust_weights(m.covariance, m.points, own, m.covariance.noise / (1 - kShared));
  const VectorXd of_all =
      robust_weights(m.covariance, m.points, common, m.covariance.noise / (devices * share));
  m.weights.colwise() += of_all;
  return m;
}

}  // namespace

double log_baseline(KernelKind kind, const Problem& problem) {
  const bool recurrent = kind == KernelKind::recurrent_forward || kind == KernelKind::recurrent_backward;
  return recurrent ? log_feature(kind, problem, "steps") : 0;
}

Eigen::RowVectorXd FitMember::point(KernelKind kind, const Problem& problem) const {
  Eigen::RowVectorXd x(static_cast<Index>(features.size()));
  for (std::size_t f = 0; f < features.size(); ++f) {
    const auto i = static_cast<Index>(f);
    x(i) = (log_feature(kind, problem, features[f]) - mean(i)) / scale(i);
  }
  return x;
}

KernelFit KernelFit::train(const KernelTimes& times, int iterations) {
  if (times.problems.size() < 3)
    throw InputError(fmt::format("{}: {} measured problems; a fit needs at least 3", name_of(times.kind),
                                 times.problems.size()));
  if (times.problems.size() > 4000)
    throw InputError(fmt::format("{}: {} measured problems; at most 4000 are accepted", name_of(times.kind),
                                 times.problems.size()));
  auto state = std::make_shared<State>();
  state->kind = times.kind;
  state->devices = times.devices;
  state->problems = times.problems;
  const Centred y = centred(outputs_of(times));
  state->means.assign(y.means.begin(), y.means.end());
  for (std::size_t d = 0; d < times.devices.size(); ++d) {
    double flops = 0, bytes = 0;
    for (std::size_t p = 0; p < times.problems.size(); ++p) {
      if (std::isnan(times.at(p, d))) continue;
      const double seconds = std::exp(times.at(p, d));
      flops = std::max(flops, flops_of(times.kind, times.problems[p]) / seconds);
      bytes = std::max(bytes, bytes_of(times.kind, times.problems[p]) / seconds);
    }
    state->flop_rates.push_back(flops);
    state->byte_rates.push_back(bytes);
  }
  for (const MemberKind& how : member_kinds(times.kind))
    state->members.push_back(train_member(how, times, y, iterations));
  return KernelFit(std::move(state));
}

KernelKind KernelFit::kind() const {
  return state_->kind;
}

const std::vector<std::string>& KernelFit::devices() const {
  return state_->devices;
}

std::optional<std::size_t> KernelFit::device_index(std::string_view device) const {
  const auto& all = state_->devices;
  const auto it = std::find(all.begin(), all.end(), device);
  if (it == all.end()) return std::nullopt;
  return static_cast<std::size_t>(it - all.begin());
}

double KernelFit::log_seconds(const Problem& problem, std::size_t device) const {
  const State& s = *state_;
  double sum = 0;
  for (const FitMember& m : s.members) {
    const Eigen::RowVectorXd k = m.covariance(m.point(s.kind, problem), m.points);
    sum += k.dot(m.weights.col(static_cast<Index>(device)));
  }
  const double fitted =
      s.means[device] + sum / static_cast<double>(s.members.size()) + log_baseline(s.kind, problem);
  const double compute = flops_of(s.kind, problem) / (kRateMargin * s.flop_rates[device]);
  const double memory = bytes_of(s.kind, problem) / (kRateMargin * s.byte_rates[device]);
  return std::max(fitted, std::log(std::max(compute, memory)));
}

double KernelFit::beyond(const Problem& problem, std::string_view feature) const {
  const State& s = *state_;
  const double value = log_feature(s.kind, problem, feature);
  double least = value, most = value;
  for (std::size_t i = 0; i < s.problems.size(); ++i) {
    const double measured = log_feature(s.kind, s.problems[i], feature);
    least = i == 0 ? measured : std::min(least, measured);
    most = i == 0 ? measured : std::max(most, measured);
  }
  return value > most ? value - most : value < least ? value - least : 0;
}

}  // namespace espalier::fitted
