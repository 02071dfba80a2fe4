#pragma once

#include <random>
#include <string>
#include <vector>

#include "graphs/ir/graph.hpp"

namespace espalier::test {

/// Short words for graphs in tests. Types are left to bind.
class GraphBuilder {
 public:
  explicit GraphBuilder(unsigned seed = 1) : random_(seed) {}

  ValueId input(const std::string& name, Shape shape);
  ValueId scalar(float value);
  ValueId ints(const std::vector<std::int64_t>& values);
  /// Random numbers in [-scale, scale]; in [low, high] for the second form.
  ValueId weights(Shape shape, float scale = 1);
  ValueId weights(Shape shape, float low, float high);
  /// A node with one output.
  ValueId op(const std::string& name, const std::vector<ValueId>& inputs, Attributes attributes = {});
  std::vector<ValueId> op_with_outputs(const std::string& name, const std::vector<ValueId>& inputs,
                                       int outputs, Attributes attributes);
  void output(ValueId v) { graph.outputs.push_back(v); }
  Tensor random_tensor(Shape shape, float low, float high);

  Graph graph;

 private:
  std::mt19937 random_;
  int count_ = 0;
};

/// Attributes from pairs: attributes({{"axis", 1}}).
Attributes attributes(const std::vector<std::pair<std::string, Attribute>>& values);
/// How many nodes have this operator.
int count_op(const Graph& graph, const std::string& op);

}  // namespace espalier::test
