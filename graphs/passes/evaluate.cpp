#include "graphs/passes/evaluate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphs/base/error.hpp"
#include "graphs/passes/types.hpp"

namespace espalier {
namespace {

/// Prepares the node and runs it once. `tensors` are its inputs; outputs get fresh memory.
std::vector<Tensor> run_node(const Graph& graph, const Node& node, const LayerTable& layers,
                             const std::vector<const Tensor*>& inputs, PrepareContext& context) {
  const std::unique_ptr<Kernel> kernel = prepare_kernel(layers, graph, node, context);
  std::vector<const void*> in;
  for (const Tensor* t : inputs) in.push_back(t == nullptr ? nullptr : t->data());
  std::vector<Tensor> results;
  std::vector<void*> out;
  for (ValueId v : node.outputs) {
    results.push_back(v == kAbsent ? Tensor{} : Tensor(graph.type(v).dtype, graph.type(v).shape));
    out.push_back(v == kAbsent ? nullptr : results.back().mutable_data());
  }
  Tensor scratch(DType::u8, Shape{static_cast<std::int64_t>(kernel->scratch_bytes())});
  kernel->run({in, out, scratch.mutable_data()});
  return results;
}

/// Values of a run; a value is dropped behind its last reader.
class Run {
 public:
  Run(const Graph& graph, const LayerTable& layers, const KernelOptions& options)
      : graph_(graph),
        layers_(layers),
        weights_(make_weight_cache()),
        context_{*weights_, options},
        values_(graph.values.size()),
        readers_(graph.values.size(), 0) {
    for (const Node& node : graph.nodes)
      for (ValueId v : node.inputs)
        if (v != kAbsent) ++readers_[v];
    for (ValueId v : graph.outputs) ++readers_[v];
  }

  void set(ValueId v, Tensor tensor) { values_[v] = std::move(tensor); }
  const Tensor& get(ValueId v) const {
    const Tensor* constant = graph_.constant(v);
    return constant != nullptr ? *constant : values_[v];
  }

  void run(const Node& node) {
    std::vector<const Tensor*> inputs;
    for (ValueId v : node.inputs) inputs.push_back(v == kAbsent ? nullptr : &get(v));
    std::vector<Tensor> results = run_node(graph_, node, layers_, inputs, context_);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (node.outputs[i] != kAbsent) values_[node.outputs[i]] = std::move(results[i]);
    for (ValueId v : node.inputs)
      if (v != kAbsent && --readers_[v] == 0) values_[v] = Tensor{};
  }

 private:
  const Graph& graph_;
  const LayerTable& layers_;
  std::unique_ptr<WeightCache> weights_;
  PrepareContext context_;
  std::vector<Tensor> values_;
  std::vector<int> readers_;
};

}  // namespace

std::map<std::string, Tensor> evaluate(const Graph& graph, const LayerTable& layers,
                                       const std::map<std::string, Tensor>& inputs,
                                       const KernelOptions& options) {
  Run run(graph, layers, options);
  std::vector<std::string> names;
  for (ValueId v : graph.inputs) {
    const std::string& name = graph.values[v].name;
    names.push_back(name);
    const auto given = inputs.find(name);
    if (given == inputs.end()) throw InputError(fmt::format("graph input {} is not given", name));
    if (given->second.type() != graph.type(v))
      throw InputError(fmt::format("graph input {} is {}, {} is needed", name,
                                   given->second.type().to_string(), graph.type(v).to_string()));
    run.set(v, given->second);
  }
  for (const auto& [name, tensor] : inputs)
    if (std::find(names.begin(), names.end(), name) == names.end())
      throw InputError(fmt::format("the graph has no input {}; it has {}", name, fmt::join(names, ", ")));
  for (const Node& node : graph.nodes) run.run(node);
  std::map<std::string, Tensor> results;
  for (ValueId v : graph.outputs) results[graph.values[v].name] = run.get(v);
  return results;
}

std::vector<Tensor> evaluate_node(const Graph& graph, const Node& node, const LayerTable& layers,
                                  const std::vector<Tensor>& inputs, const KernelOptions& options) {
  Graph single;
  Node copy = node;
  for (std::size_t i = 0; i < copy.inputs.size(); ++i) {
    const bool absent = i >= inputs.size() || inputs[i].data() == nullptr;
    copy.inputs[i] = absent ? kAbsent : single.add_constant(graph.values[node.inputs[i]].name, inputs[i]);
  }
  for (ValueId& v : copy.outputs)
    if (v != kAbsent) v = single.add_value(graph.values[v].name);
  set_types(single, copy, layers);
  std::vector<const Tensor*> pointers;
  for (ValueId v : copy.inputs) pointers.push_back(single.constant(v));
  const auto weights = make_weight_cache();
  PrepareContext context{*weights, options};
  return run_node(single, copy, layers, pointers, context);
}

}  // namespace espalier
