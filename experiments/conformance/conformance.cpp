#include "experiments/conformance/conformance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

#include "graphs/base/error.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"

namespace espalier::conformance {
namespace {

namespace fs = std::filesystem;
using Tensors = std::map<std::string, Tensor>;

/// Files PREFIX_0.pb, PREFIX_1.pb, ... of a data set, in order.
std::vector<Tensor> read_set(const fs::path& folder, const std::string& prefix) {
  std::vector<Tensor> tensors;
  for (int i = 0; fs::exists(folder / fmt::format("{}_{}.pb", prefix, i)); ++i)
    tensors.push_back(read_tensor_proto(folder / fmt::format("{}_{}.pb", prefix, i)));
  return tensors;
}

/// Sorted; InputError when the folder cannot be read.
std::vector<fs::path> sub_folders(const fs::path& folder) {
  std::error_code code;
  std::vector<fs::path> found;
  for (fs::directory_iterator at(folder, code); !code && at != fs::directory_iterator(); at.increment(code)) {
    std::error_code unreadable;
    if (at->is_directory(unreadable)) found.push_back(at->path());
  }
  if (code)
    throw InputError(fmt::format("{}: the folder cannot be read: {}", folder.string(), code.message()));
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets = sub_folders(folder);
  std::erase_if(sets, [](const fs::path& p) { return !p.filename().string().starts_with("test_data_set_"); });
  return sets;
}

/// ONNX's test data holds bfloat16 as its bits in uint16.
Tensor as_type(const Tensor& t, DType wanted) {
  if (t.dtype() != DType::u16 || wanted != DType::bf16) return t;
  return Tensor(DType::bf16, t.shape(), t.data(), std::make_shared<Tensor>(t));
}

/// Binds to the shapes of the inputs. When a shape rule needs a value, small integer inputs become constants,
/// then all small inputs.
Graph bind_to(const Graph& graph, const LayerTable& layers, const Tensors& inputs) {
  const auto attempt = [&](auto&& is_value) {
    Binding binding;
    for (const auto& [name, tensor] : inputs)
      if (is_value(tensor))
        binding.values[name] = tensor;
      else
        binding.shapes[name] = tensor.shape();
    return bind(graph, layers, binding);
  };
  try {
    return attempt([](const Tensor&) { return false; });
  } catch (const InputError&) {
    try {
      return attempt([](const Tensor& t) { return t.shape().rank() <= 1 && !is_float(t.dtype()); });
    } catch (const InputError&) {
      return attempt([](const Tensor& t) { return t.shape().rank() <= 1; });
    }
  }
}

/// Empty when every output of the set is right.
std::string run_set(const fs::path& folder, const Graph& graph, const LayerTable& layers,
                    const Executor& execute) {
  const std::vector<Tensor> given = read_set(folder, "input");
  const std::vector<Tensor> expected = read_set(folder, "output");
  if (expected.empty()) throw InputError(fmt::format("{} has no output_0.pb", folder.string()));
  Tensors inputs;
  for (std::size_t i = 0; i < given.size() && i < graph.inputs.size(); ++i)
    inputs[graph.values[graph.inputs[i]].name] =
        as_type(given[i],
                graph.values[graph.inputs[i]].type ? graph.values[graph.inputs[i]].type->dtype : DType::f32);
  const Graph bound = bind_to(graph, layers, inputs);
  Tensors run_time;
  for (ValueId v : bound.inputs) {
    const auto it = inputs.find(bound.values[v].name);
    if (it == inputs.end())
      throw InputError(fmt::format("{} has no data for input {}", folder.string(), bound.values[v].name));
    run_time.insert(*it);
  }
  Tensors outputs;
  try {
    outputs = execute(bound, run_time);
  } catch (const std::exception& error) {
    return fmt::format("execution: {}", error.what());
  }
  for (std::size_t i = 0; i < expected.size() && i < graph.outputs.size(); ++i) {
    const std::string& name = graph.values[graph.outputs[i]].name;
    if (outputs.count(name) == 0) return fmt::format("output {} is missing", name);
    if (const std::string text = difference(outputs.at(name), as_type(expected[i], outputs.at(name).dtype()));
        !text.empty())
      return fmt::format("output {}: {}", name, text);
  }
  return {};
}

/// Without what is the same in every line: the model's path and the list of all operators.
std::string in_short(std::string reason) {
  if (const std::size_t path = reason.find("model.onnx: "); path != std::string::npos)
    reason.erase(0, path + std::string_view("model.onnx: ").size());
  return reason.substr(0, reason.find("; supported are "));
}

}  // namespace

std::string difference(const Tensor& actual, const Tensor& expected, double rtol, double atol) {
  if (actual.type() != expected.type())
    return fmt::format("{} where {} is expected", actual.type().to_string(), expected.type().to_string());
  if (!is_float(actual.dtype())) {
    const auto a = actual.to_int64();
    const auto e = expected.to_int64();
    const auto [x, y] = std::mismatch(a.begin(), a.end(), e.begin());
    return x == a.end() ? "" : fmt::format("element {} is {}, {} expected", x - a.begin(), *x, *y);
  }
  // a bfloat16 has 8 significant bits; ONNX's data is truncated where IEEE rounds
  if (actual.dtype() == DType::bf16) rtol = std::max(rtol, 1.0 / 128);
  const auto a = actual.to_double();
  const auto e = expected.to_double();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i]));
    if (!same && !(std::fabs(a[i] - e[i]) <= atol + rtol * std::fabs(e[i])))
      return fmt::format("element {} is {}, {} expected", i, a[i], e[i]);
  }
  return {};
}

CaseResult run_case(const fs::path& folder, const LayerTable& layers, const Executor& execute) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  const fs::path named = whole.has_filename() ? whole : whole.parent_path();
  CaseResult result{named.parent_path().filename().string(), named.filename().string(), Outcome::passed, {}};
  try {
    const Graph graph = import_onnx(folder / "model.onnx", layers);
    const std::vector<fs::path> sets = data_sets(folder);
    if (sets.empty())
      throw InputError(fmt::format("{} has no test_data_set_* with inputs and outputs", folder.string()));
    for (const fs::path& set : sets) {
      result.reason = run_set(set, graph, layers, execute);
      if (result.reason.empty()) continue;
      result.outcome = Outcome::failed;
      break;
    }
  } catch (const InputError& error) {
    result.outcome = Outcome::refused;
    result.reason = error.what();
  } catch (const std::exception& error) {
    result.outcome = Outcome::failed;
    result.reason = error.what();
  }
  return result;
}

std::vector<fs::path> find_cases(const fs::path& folder) {
  if (fs::exists(folder / "model.onnx")) return {folder};
  std::vector<fs::path> cases;
  for (const fs::path& below : sub_folders(folder)) {
    if (fs::exists(below / "model.onnx")) {
      cases.push_back(below);
      continue;
    }
    for (const fs::path& leaf : sub_folders(below))
      if (fs::exists(leaf / "model.onnx")) cases.push_back(leaf);
  }
  return cases;
}

std::string outcome_name(Outcome outcome) {
  constexpr std::array kNames = {"passed", "failed", "refused"};
  return kNames[static_cast<std::size_t>(outcome)];
}

std::size_t count(const std::vector<CaseResult>& results, Outcome outcome) {
  return static_cast<std::size_t>(std::count_if(results.begin(), results.end(),
                                                [&](const CaseResult& r) { return r.outcome == outcome; }));
}

std::string report(const std::vector<CaseResult>& results) {
  std::string text;
  for (const CaseResult& r : results)
    text += fmt::format("{:<7} {}/{}{}{}\n", outcome_name(r.outcome), r.suite, r.name,
                        r.reason.empty() ? "" : ": ", in_short(r.reason));
  return text + fmt::format("{} passed, {} failed, {} refused, {} cases\n", count(results, Outcome::passed),
                            count(results, Outcome::failed), count(results, Outcome::refused),
                            results.size());
}

}  // namespace espalier::conformance
