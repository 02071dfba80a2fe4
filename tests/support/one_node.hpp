#pragma once

#include <random>
#include <string>
#include <vector>

#include "graphs/ir/layer.hpp"

namespace espalier::test {

/// Uniform in [-1, 1) for floats, small numbers for integers.
Tensor random_tensor(DType dtype, const Shape& shape, std::mt19937& random);

/// A graph of one node over given inputs, to compare the implementations of a layer.
class OneNode {
 public:
  OneNode(const LayerTable& layers, std::string op, Attributes attributes = {});
  OneNode& input(Tensor value);     ///< known at run time only
  OneNode& constant(Tensor value);  ///< known when the kernel is prepared
  OneNode& absent();
  OneNode& outputs(int count);
  OneNode& fuse(PostOp op);
  /// Fuses Add or Mul with a random operand of the output's shape.
  OneNode& fuse_binary(const std::string& op, std::mt19937& random);

  std::vector<TensorType> infer();
  /// Infers, selects, prepares and runs with an exact-size scratch. `chosen`, when given, receives the name.
  std::vector<Tensor> run(const KernelOptions& options = {}, std::string* chosen = nullptr);
  /// Why the implementation `name` does not apply; empty when it does.
  std::string refusal(std::string_view name, const KernelOptions& options = {});
  Graph& graph() { return graph_; }
  std::span<const Implementation> implementations() const {
    return layers_.at(graph_.nodes[0]).implementations;
  }

 private:
  const LayerTable& layers_;
  Graph graph_;
  std::vector<Tensor> values_;  ///< by input of the node
};

/// max |a - b| / max(|b|, tiny): the measure of the acceptance cases. Infinite when types differ.
double relative_error(const Tensor& a, const Tensor& b);

}  // namespace espalier::test
