#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "graphs/ir/attributes.hpp"
#include "graphs/ir/tensor.hpp"

/// What to compute: operators over tensors, in ONNX's names (canonical opset-18 form: what became an input in
/// a later opset is an input here) but with channels-last activations. See graphs/README.md for the contract.
namespace espalier {

using ValueId = std::int32_t;
constexpr ValueId kAbsent = -1;  ///< an optional input or output that is left out

struct Value {
  std::string name;
  std::optional<TensorType> type;      ///< extents may be Shape::kDynamic until the graph is bound
  std::optional<Tensor> constant;      ///< weights, and whatever folding found
  std::vector<std::string> dim_names;  ///< of a graph input: the name of each symbolic extent, else ""
};

/// An operation fused behind a node: applied to output 0 in order. "Add" and "Mul" read one more input of the
/// node (input_index), of output 0's shape or broadcastable to it; the others are unary activations under
/// their ONNX names with alpha and beta as ONNX has them (Clip: alpha = min, beta = max; Silu = x
/// sigmoid(x)).
struct PostOp {
  std::string op;
  float alpha = 0;
  float beta = 0;
  int input_index = -1;
  friend bool operator==(const PostOp&, const PostOp&) = default;
};

struct Graph;

struct Node {
  std::string name;  ///< unique in the graph; made up from the op and a number where the file has none
  std::string op;
  Attributes attributes;
  std::vector<ValueId> inputs;  ///< kAbsent for a left-out optional one
  std::vector<ValueId> outputs;
  std::vector<PostOp> post_ops;
  /// Only of "If" and only before bind: the branches (then, else). Input 0 is the condition; behind it stand
  /// the values that the branches read from outside, first those of `then` in the order of its graph inputs,
  /// then those of `else`. bind replaces the node by the branch that the condition chooses.
  std::vector<std::shared_ptr<const Graph>> bodies;
};

/// Nodes stand in topological order; each value has at most one producer. Values are referred to by index and
/// never move; dead ones are dropped by remove_dead_code.
struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<ValueId> inputs;  ///< without the constants
  std::vector<ValueId> outputs;
  /// Spatial operators still read [N, C, spatial...] as in ONNX: an imported graph. bind brackets them with
  /// transposes and clears the flag.
  bool onnx_order = false;

  ValueId add_value(std::string value_name, std::optional<TensorType> type = std::nullopt);
  ValueId add_constant(std::string value_name, Tensor tensor);
  /// Appends a node with one new output value per entry of `output_names`; returns the node.
  Node& add_node(std::string op, std::string node_name, std::vector<ValueId> inputs,
                 std::vector<std::string> output_names, Attributes attributes = {});
  /// The value's type. InternalError when inference has not run.
  const TensorType& type(ValueId v) const;
  const Tensor* constant(ValueId v) const {
    return v != kAbsent && values[v].constant ? &*values[v].constant : nullptr;
  }
  /// For each value the index of its producer, or -1.
  std::vector<std::int32_t> producers() const;
  /// For each value the nodes that read it, in order, once for each use.
  std::vector<std::vector<std::int32_t>> consumers() const;
  /// Every reference is in range, topological order holds, names of nodes are unique. InternalError else.
  void validate() const;
};

}  // namespace espalier
