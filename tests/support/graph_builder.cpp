#include "tests/support/graph_builder.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace espalier::test {

ValueId GraphBuilder::input(const std::string& name, Shape shape) {
  const ValueId v = graph.add_value(name, TensorType{DType::f32, std::move(shape)});
  graph.inputs.push_back(v);
  return v;
}

ValueId GraphBuilder::scalar(float value) {
  return graph.add_constant(fmt::format("c{}", count_++), Tensor::scalar(value));
}

ValueId GraphBuilder::ints(const std::vector<std::int64_t>& values) {
  const Shape shape{static_cast<std::int64_t>(values.size())};
  return graph.add_constant(fmt::format("i{}", count_++), Tensor::of<std::int64_t>(shape, values));
}

Tensor GraphBuilder::random_tensor(Shape shape, float low, float high) {
  Tensor t(DType::f32, std::move(shape));
  for (float& v : t.as_mutable<float>()) v = std::uniform_real_distribution<float>(low, high)(random_);
  return t;
}

ValueId GraphBuilder::weights(Shape shape, float scale) {
  return weights(std::move(shape), -scale, scale);
}

ValueId GraphBuilder::weights(Shape shape, float low, float high) {
  return graph.add_constant(fmt::format("w{}", count_++), random_tensor(std::move(shape), low, high));
}

ValueId GraphBuilder::op(const std::string& name, const std::vector<ValueId>& inputs, Attributes attributes) {
  return op_with_outputs(name, inputs, 1, std::move(attributes)).front();
}

std::vector<ValueId> GraphBuilder::op_with_outputs(const std::string& name,
                                                   const std::vector<ValueId>& inputs, int outputs,
                                                   Attributes attributes) {
  const std::string node_name = fmt::format("{}_{}", name, count_++);
  std::vector<std::string> names;
  for (int i = 0; i < outputs; ++i) names.push_back(fmt::format("{}:{}", node_name, i));
  return graph.add_node(name, node_name, inputs, names, std::move(attributes)).outputs;
}

Attributes attributes(const std::vector<std::pair<std::string, Attribute>>& values) {
  Attributes a;
  for (const auto& [name, value] : values) a.set(name, value);
  return a;
}

int count_op(const Graph& graph, const std::string& op) {
  return static_cast<int>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& n) { return n.op == op; }));
}

}  // namespace espalier::test
