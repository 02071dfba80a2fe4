#include "tests/support/conformance.hpp"

#include <algorithm>
#include <numeric>

#include "graphs/passes/bind.hpp"
#include "graphs/passes/evaluate.hpp"

namespace espalier::test {
namespace {

using Tensors = std::map<std::string, Tensor>;

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

}  // namespace espalier::test
