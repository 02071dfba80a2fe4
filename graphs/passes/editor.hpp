#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "graphs/ir/layer.hpp"

/// What the passes share.
namespace espalier {

/// A graph under change: who gives a value and how often it is read stays known while nodes are replaced and
/// erased. finish() drops the erased nodes.
class Editor {
 public:
  Editor(Graph& graph, const LayerTable& layers);

  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }
  const LayerTable& layers() const { return layers_; }
  Node& node(std::int32_t i) { return graph_.nodes[static_cast<std::size_t>(i)]; }
  std::int32_t size() const { return static_cast<std::int32_t>(graph_.nodes.size()); }
  bool erased(std::int32_t i) const { return graph_.nodes[static_cast<std::size_t>(i)].op.empty(); }

  /// Index of the node that gives v, or -1.
  std::int32_t producer(ValueId v) const;
  /// The node that gives v when its op is `op` and it has no fused operations, else nullptr.
  const Node* producer(ValueId v, std::string_view op) const;
  /// Read exactly once and not a graph output.
  bool single_use(ValueId v) const { return uses_[static_cast<std::size_t>(v)] == 1; }
  bool is_output(ValueId v) const { return uses_[static_cast<std::size_t>(v)] >= kOutput; }

  ValueId add_constant(const std::string& name, Tensor tensor);
  ValueId add_value(const std::string& name, const TensorType& type);
  void replace(std::int32_t i, Node node);
  void erase(std::int32_t i);
  /// Every reader of `from` reads `to` instead. When `from` is a graph output, its producer (which must be
  /// erased) is replaced as the giver of `from` by that of `to`. False, and nothing changed, when that cannot
  /// be (both are outputs, or `to` has no producer).
  bool forward(ValueId from, ValueId to);
  /// Lets node i read what its inputs were forwarded to.
  void resolve_inputs(std::int32_t i);
  void finish();

  /// The value of a constant of one element.
  std::optional<double> scalar(ValueId v) const;
  bool is_float(ValueId v) const;
  /// A constant whose extents are all 1 but the last, which is `channels`, or a single element: spread to
  /// [channels] as float32. nullopt for everything else.
  std::optional<Tensor> channel_vector(ValueId v, std::int64_t channels) const;

 private:
  static constexpr int kOutput = 1 << 28;
  void count(const Node& node, int sign);
  void grow();
  ValueId resolve(ValueId v) const;

  Graph& graph_;
  const LayerTable& layers_;
  std::vector<std::int32_t> producers_;
  std::vector<int> uses_;
  std::vector<ValueId> forwarded_;  ///< by value: what is read instead, or kAbsent
};

/// A local rewrite at node i; true when it changed the graph. It may erase nodes before i and replace node i.
using Rule = bool (*)(Editor&, std::int32_t i);

/// Applies the rules at each node in order, repeatedly at one node while one of them fires.
void apply_rules(Graph& graph, const LayerTable& layers, std::initializer_list<Rule> rules);

}  // namespace espalier
