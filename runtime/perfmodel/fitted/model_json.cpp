#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "graphs/base/error.hpp"
#include "runtime/perfmodel/fitted/fitted_model.hpp"
#include "runtime/perfmodel/fitted/kernel_fit_state.hpp"
#include "runtime/task_graph/sources/json_fields.hpp"

namespace espalier::fitted {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;
using nlohmann::json;
using nlohmann::ordered_json;
using source::JsonFields;

constexpr const char* kFormat = "espalier-fitted-costs";
constexpr int kVersion = 1;
constexpr std::size_t kMostProblems = 4000, kMostDevices = 1000, kMostMembers = 16, kMostEntries = 1000;

struct ShapeName {
  CovarianceShape shape;
  const char* name;
};
constexpr ShapeName kShapes[] = {{CovarianceShape::squared_exponential, "squared_exponential"},
                                 {CovarianceShape::matern52, "matern52"},
                                 {CovarianceShape::matern32, "matern32"}};

/// With twelve digits: where times hardly scatter, weights are large and cancel out.
double rounded(double value) {
  return std::strtod(fmt::format("{:.12g}", value).c_str(), nullptr);
}

template <class Values>
ordered_json numbers(const Values& values) {
  ordered_json out = ordered_json::array();
  for (const double v : values) out.push_back(rounded(v));
  return out;
}

/// What has no lists or objects inside is one line: to be read by people and compared by version control.
void append_lines(const ordered_json& value, std::string& text) {
  const auto structured = [](const ordered_json& v) { return v.is_structured(); };
  if (!std::any_of(value.begin(), value.end(), structured)) {
    text += value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    return;
  }
  text += value.is_object() ? "{" : "[";
  const char* separator = "\n";
  for (const auto& [key, item] : value.items()) {
    text += separator;
    separator = ",\n";
    if (value.is_object())
      text += ordered_json(key).dump(-1, ' ', false, ordered_json::error_handler_t::replace) + ": ";
    append_lines(item, text);
  }
  text += value.is_object() ? "\n}" : "\n]";
}

std::pair<std::string, std::string> device_and_precision(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  return {name.substr(0, slash), name.substr(slash + 1)};
}

ordered_json name_json(const std::string& name) {
  const auto [device, precision] = device_and_precision(name);
  return {{"device", device}, {"precision", precision}};
}

}  // namespace

/// The way between a KernelFit's state and JSON.
class ModelJson {
 public:
  static ordered_json write(const FittedKernel& kernel);
  static FittedKernel read(const json& entry, const JsonFields& fields, const std::string& where);

 private:
  static FitMember read_member(const json& entry, const JsonFields& fields, const std::string& where,
                               const KernelFit::State& state);
};

ordered_json ModelJson::write(const FittedKernel& kernel) {
  const KernelFit::State& s = *kernel.fit.state_;
  ordered_json out;
  out["kernel"] = name_of(s.kind);
  out["parameters"] = parameter_names(s.kind);
  out["devices"] = ordered_json::array();
  for (std::size_t d = 0; d < s.devices.size(); ++d) {
    ordered_json one = name_json(s.devices[d]);
    one["mean"] = rounded(s.means[d]);
    one["flop_rate"] = rounded(s.flop_rates[d]);
    one["byte_rate"] = rounded(s.byte_rates[d]);
    if (kernel.errors[d].count > 0) {
      one["median_absolute_percentage_error"] = rounded(100 * kernel.errors[d].median);
      one["times"] = kernel.errors[d].count;
    }
    out["devices"].push_back(std::move(one));
  }
  out["problems"] = ordered_json::array();
  for (const Problem& p : s.problems) {
    ordered_json row = ordered_json::array();
    for (const double v : p) row.push_back(static_cast<std::int64_t>(v));
    out["problems"].push_back(std::move(row));
  }
  out["members"] = ordered_json::array();
  for (const FitMember& m : s.members) {
    ordered_json one;
    for (const ShapeName& n : kShapes)
      if (n.shape == m.covariance.shape) one["covariance"] = n.name;
    one["features"] = m.features;
    one["feature_mean"] = numbers(m.mean);
    one["feature_scale"] = numbers(m.scale);
    one["lengths"] = numbers(m.covariance.lengths);
    one["signal"] = rounded(m.covariance.signal);
    one["linear"] = rounded(m.covariance.linear);
    one["noise"] = rounded(m.covariance.noise);
    one["weights"] = ordered_json::object();
    for (std::size_t d = 0; d < s.devices.size(); ++d)
      one["weights"][s.devices[d]] = numbers(m.weights.col(static_cast<Index>(d)));
    out["members"].push_back(std::move(one));
  }
  return out;
}

namespace {

std::string text_of(const JsonFields& f, const json& object, const char* key, const std::string& where) {
  const json& value = f.need(object, key, where);
  if (!value.is_string() || value.get_ref<const std::string&>().empty() ||
      value.get_ref<const std::string&>().size() > 200)
    f.refuse(fmt::format("\"{}\" of {}: a short text was expected", key, where));
  return value.get<std::string>();
}

std::string device_of(const JsonFields& f, const json& object, const std::string& where) {
  return text_of(f, object, "device", where) + "/" + text_of(f, object, "precision", where);
}

/// In [least, most].
double number_of(const JsonFields& f, const json& object, const char* key, const std::string& where,
                 double least, double most) {
  const json& value = f.need(object, key, where);
  const double v = value.is_number() ? value.get<double>() : std::nan("");
  if (!(v >= least && v <= most))
    f.refuse(fmt::format("\"{}\" of {}: a number in {} .. {} was expected", key, where, least, most));
  return v;
}

VectorXd vector_of(const JsonFields& f, const json& object, const char* key, const std::string& where,
                   std::size_t size, double least, double most) {
  const json& list = f.list(object, key, where);
  if (list.size() != size)
    f.refuse(fmt::format("\"{}\" of {} has {} numbers, {} are needed", key, where, list.size(), size));
  VectorXd out(static_cast<Index>(size));
  for (std::size_t i = 0; i < size; ++i) {
    const double v = list[i].is_number() ? list[i].get<double>() : std::nan("");
    if (!(v >= least && v <= most))
      f.refuse(fmt::format("\"{}\" of {}, number {}: one in {} .. {} was expected", key, where, i + 1, least,
                           most));
    out(static_cast<Index>(i)) = v;
  }
  return out;
}

const json& bounded(const JsonFields& f, const json& object, const char* key, const std::string& where,
                    std::size_t least, std::size_t most) {
  const json& list = f.list(object, key, where);
  if (list.size() < least || list.size() > most)
    f.refuse(fmt::format("\"{}\" of {} has {} entries: {} .. {} are accepted", key, where, list.size(), least,
                         most));
  return list;
}

/// Percent in the file.
ErrorSummary error_of(const JsonFields& f, const json& object, const std::string& where) {
  if (f.find(object, "median_absolute_percentage_error") == nullptr) return {std::nan(""), 0};
  const double error = number_of(f, object, "median_absolute_percentage_error", where, 0, 1e6) / 100;
  const double count = f.find(object, "times") == nullptr ? 1 : number_of(f, object, "times", where, 1, 1e9);
  return {error, static_cast<std::size_t>(count)};
}

std::vector<Problem> problems_of(const JsonFields& f, const json& entry, const std::string& where,
                                 KernelKind kind) {
  std::vector<Problem> problems;
  std::set<Problem> seen;
  for (const json& row : bounded(f, entry, "problems", where, 1, kMostProblems)) {
    const std::string which = fmt::format("problem {} of {}", problems.size() + 1, where);
    Problem p;
    if (row.is_array())
      for (const json& v : row)
        p.push_back(v.is_number() && v.get<double>() >= 0 && v.get<double>() <= 1e8 ? v.get<double>()
                                                                                    : std::nan(""));
    if (!is_possible(kind, p))
      f.refuse(fmt::format("{}: the {} parameters of a call that has an output were expected", which,
                           parameter_names(kind).size()));
    if (!seen.insert(p).second) f.refuse(fmt::format("{} is there twice", which));
    problems.push_back(std::move(p));
  }
  return problems;
}

}  // namespace

FitMember ModelJson::read_member(const json& entry, const JsonFields& f, const std::string& where,
                                 const KernelFit::State& s) {
  FitMember m;
  const std::string shape = text_of(f, entry, "covariance", where);
  bool known = false;
  for (const ShapeName& n : kShapes)
    if (shape == n.name) {
      m.covariance.shape = n.shape;
      known = true;
    }
  if (!known)
    f.refuse(fmt::format("{}: covariance \"{}\"; accepted are squared_exponential, matern52, matern32", where,
                         source::shown(shape)));
  for (const json& name : bounded(f, entry, "features", where, 1, 64)) {
    if (!name.is_string() || !has_feature(s.kind, name.get_ref<const std::string&>()))
      f.refuse(fmt::format("{}: {} has no feature {}", where, name_of(s.kind), source::shown(name.dump())));
    m.features.push_back(name.get<std::string>());
  }
  const std::size_t d = m.features.size();
  m.mean = vector_of(f, entry, "feature_mean", where, d, -1e3, 1e3);
  m.scale = vector_of(f, entry, "feature_scale", where, d, 1e-6, 1e3);
  m.covariance.lengths = vector_of(f, entry, "lengths", where, d, 1e-6, 1e9);
  m.covariance.signal = number_of(f, entry, "signal", where, 0, 1e9);
  m.covariance.linear = number_of(f, entry, "linear", where, 0, 1e9);
  m.covariance.noise = number_of(f, entry, "noise", where, 0, 1e9);
  const auto n = static_cast<Index>(s.problems.size());
  m.points.resize(n, static_cast<Index>(d));
  for (Index i = 0; i < n; ++i) m.points.row(i) = m.point(s.kind, s.problems[static_cast<std::size_t>(i)]);
  m.weights.resize(n, static_cast<Index>(s.devices.size()));
  const json& weights = f.need(entry, "weights", where);
  for (std::size_t j = 0; j < s.devices.size(); ++j)
    m.weights.col(static_cast<Index>(j)) =
        vector_of(f, weights, s.devices[j].c_str(), "the weights of " + where, s.problems.size(), -1e9, 1e9);
  return m;
}

FittedKernel ModelJson::read(const json& entry, const JsonFields& f, const std::string& position) {
  auto state = std::make_shared<KernelFit::State>();
  const std::string name = text_of(f, entry, "kernel", position);
  const auto kind = kernel_named(name);
  if (!kind)
    f.refuse(
        fmt::format("{}: \"{}\" is no kernel; accepted are conv_forward, conv_backward_input, "
                    "conv_backward_weight, gemm, recurrent_forward, recurrent_backward",
                    position, source::shown(name)));
  state->kind = *kind;
  std::vector<ErrorSummary> errors;
  for (const json& device : bounded(f, entry, "devices", name, 1, kMostDevices)) {
    state->devices.push_back(device_of(f, device, "a device of " + name));
    const std::string where = fmt::format("{} of {}", state->devices.back(), name);
    if (std::count(state->devices.begin(), state->devices.end(), state->devices.back()) > 1)
      f.refuse(fmt::format("{} is there twice", where));
    state->means.push_back(number_of(f, device, "mean", where, -100, 100));
    state->flop_rates.push_back(number_of(f, device, "flop_rate", where, 1, 1e21));
    state->byte_rates.push_back(number_of(f, device, "byte_rate", where, 1, 1e21));
    errors.push_back(error_of(f, device, where));
  }
  state->problems = problems_of(f, entry, name, *kind);
  for (const json& member : bounded(f, entry, "members", name, 1, kMostMembers))
    state->members.push_back(
        read_member(member, f, fmt::format("member {} of {}", state->members.size() + 1, name), *state));
  return {KernelFit(std::move(state)), std::move(errors)};
}

std::string to_json(const FittedModel& model) {
  ordered_json out;
  out["format"] = kFormat;
  out["version"] = kVersion;
  out["kernels"] = ordered_json::array();
  for (const FittedKernel& k : model.kernels) out["kernels"].push_back(ModelJson::write(k));
  out["bandwidths"] = ordered_json::array();
  for (const FittedBandwidth& b : model.bandwidths) {
    ordered_json one = name_json(b.device);
    one["byte_rate"] = rounded(b.rate);
    out["bandwidths"].push_back(std::move(one));
  }
  out["all_reduces"] = ordered_json::array();
  for (const FittedAllReduce& a : model.all_reduces)
    out["all_reduces"].push_back({{"system", a.fit.system},
                                  {"devices", a.fit.devices},
                                  {"latency", rounded(a.fit.latency)},
                                  {"bandwidth", rounded(a.fit.bandwidth)},
                                  {"median_absolute_percentage_error", rounded(100 * a.error)}});
  std::string text;
  append_lines(out, text);
  return text + "\n";
}

FittedModel model_from_json(std::string_view text, const std::string& name) {
  const JsonFields f(name);
  const json root = f.parse(text);
  if (!root.is_object() || root.value("format", json()) != kFormat)
    f.refuse(fmt::format("is no fitted model: \"format\": \"{}\" was expected", kFormat));
  if (root.value("version", json()) != kVersion)
    f.refuse(
        fmt::format("is of version {}, version {} is needed: `espalier fit-costs DATA.csv --out {}` "
                    "makes it again",
                    source::shown(root.value("version", json()).dump()), kVersion, name));
  FittedModel model;
  for (const json& entry : bounded(f, root, "kernels", "the model", 0, kMostEntries))
    model.kernels.push_back(ModelJson::read(entry, f, fmt::format("kernel {}", model.kernels.size() + 1)));
  for (const json& entry : bounded(f, root, "bandwidths", "the model", 0, kMostEntries)) {
    const std::string where = fmt::format("bandwidth {}", model.bandwidths.size() + 1);
    const std::string device = device_of(f, entry, where);
    model.bandwidths.push_back({device, number_of(f, entry, "byte_rate", where, 1, 1e18)});
  }
  for (const json& entry : bounded(f, root, "all_reduces", "the model", 0, kMostEntries)) {
    const std::string where = fmt::format("all-reduce {}", model.all_reduces.size() + 1);
    AllReduceFit fit;
    fit.system = text_of(f, entry, "system", where);
    const double devices = number_of(f, entry, "devices", where, 2, 1e6);
    if (devices != std::floor(devices)) f.refuse(fmt::format("{}: {} devices", where, devices));
    fit.devices = static_cast<int>(devices);
    fit.latency = number_of(f, entry, "latency", where, 0, 1e3);
    fit.bandwidth = number_of(f, entry, "bandwidth", where, 1, 1e18);
    const ErrorSummary error = error_of(f, entry, where);
    model.all_reduces.push_back({fit, error.median});
  }
  if (model.kernels.empty() && model.bandwidths.empty() && model.all_reduces.empty())
    f.refuse("the model is empty");
  return model;
}

}  // namespace espalier::fitted
