#include "tests/support/conformance.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <numeric>
#include <optional>

#include "graphs/base/error.hpp"
#include "graphs/onnx/import.hpp"
#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"

namespace espalier::test {
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
  Tensors inputs;
  for (std::size_t i = 0; i < given.size() && i < graph.inputs.size(); ++i)
    inputs[graph.values[graph.inputs[i]].name] =
        as_type(given[i],
                graph.values[graph.inputs[i]].type ? graph.values[graph.inputs[i]].type->dtype : DType::f32);
  const Graph bound = bind_to(graph, layers, inputs);
  Tensors run_time;
  for (ValueId v : bound.inputs) run_time[bound.values[v].name] = inputs[bound.values[v].name];
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

Tensor transpose(const Tensor& t, const std::vector<std::int64_t>& perm, const LayerTable& layers) {
  Graph g;
  Attributes attributes;
  attributes.set("perm", perm);
  const ValueId x = g.add_value("x", t.type());
  const Node node = g.add_node("Transpose", "t", {x}, {"y"}, attributes);
  return evaluate_node(g, node, layers, {t})[0];
}

std::map<std::string, Tensor> run_plain(const Graph& g, const LayerTable& layers, const Tensors& inputs) {
  return evaluate(g, layers, inputs);
}

}  // namespace

Executor plain_executor(const LayerTable& layers) {
  return [&layers](const Graph& g, const Tensors& inputs) { return run_plain(g, layers, inputs); };
}

Executor transposing_executor(const LayerTable& layers) {
  return [&layers](const Graph& g, const Tensors& inputs) {
    Graph turned = g;
    Tensors given;
    std::vector<Node> front;
    for (ValueId& v : turned.inputs) {
      const std::string name = turned.values[v].name;
      const Tensor& tensor = inputs.at(name);
      const int rank = tensor.shape().rank();
      std::vector<std::int64_t> there(static_cast<std::size_t>(rank));
      std::iota(there.begin(), there.end(), 0);
      std::vector<std::int64_t> back = there;
      if (rank > 1) {
        std::rotate(there.begin(), there.begin() + 1, there.end());
        std::rotate(back.begin(), back.end() - 1, back.end());
      }
      given["turned " + name] = transpose(tensor, there, layers);
      const ValueId outer = turned.add_value("turned " + name, given["turned " + name].type());
      Node node;
      node.name = "turn " + name;
      node.op = "Transpose";
      node.attributes.set("perm", back);
      node.inputs = {outer};
      node.outputs = {v};
      front.push_back(std::move(node));
      v = outer;
    }
    turned.nodes.insert(turned.nodes.begin(), front.begin(), front.end());
    optimise(turned, layers);
    return run_plain(turned, layers, given);
  };
}

Executor optimising_executor(const LayerTable& layers) {
  return [&layers](const Graph& g, const Tensors& inputs) {
    Graph better = g;
    optimise(better, layers);
    return run_plain(better, layers, inputs);
  };
}

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
  CaseResult result{
      folder.parent_path().filename().string(), folder.filename().string(), Outcome::passed, {}};
  try {
    const Graph graph = import_onnx(folder / "model.onnx", layers);
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (!entry.is_directory() || !result.reason.empty()) continue;
      result.reason = run_set(entry.path(), graph, layers, execute);
      if (!result.reason.empty()) result.outcome = Outcome::failed;
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

std::vector<fs::path> conformance_cases(const fs::path& root) {
  std::vector<fs::path> cases;
  for (const char* suite : {"node", "simple", "pytorch-operator", "pytorch-converted"}) {
    if (!fs::is_directory(root / suite)) continue;
    for (const auto& entry : fs::directory_iterator(root / suite))
      if (fs::exists(entry.path() / "model.onnx")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string report(const std::vector<CaseResult>& results) {
  constexpr std::array kNames = {"passed", "failed", "refused"};
  std::array<int, 3> totals{};
  std::string text;
  for (const CaseResult& r : results) {
    const auto outcome = static_cast<std::size_t>(r.outcome);
    ++totals[outcome];
    text += fmt::format("{:8} {}/{}{}{}\n", kNames[outcome], r.suite, r.name, r.reason.empty() ? "" : ": ",
                        r.reason);
  }
  return text + fmt::format("{} passed, {} failed, {} refused, {} cases\n", totals[0], totals[1], totals[2],
                            results.size());
}

}  // namespace espalier::test
